// Measures microseconds per call of reads through the embedded API on this thread, where only decoding is
// between the caller and the executor. Reads are a point read, hops of 20 and 400 rows, also filtered and
// projected, counts, scans and ranges.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { UNIQUE INDEX name: String, INDEX age: U8, city: String, bio: String }
N::Hub { no: I64 }
E::Knows { From: Person, To: Person }
E::Holds { From: Hub, To: Person }
QUERY people(rows: [{name: String, age: U8, city: String, bio: String}]) =>
  FOR {name, age, city, bio} IN rows { AddN<Person>({ name, age, city, bio }) }
  RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY link(a: ID, bs: [ID]) => FOR b IN bs { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY hub(no: I64, bs: [ID]) =>
  h <- AddN<Hub>({ no })
  FOR b IN bs { AddE<Holds>::From(h)::To(b) }
  RETURN h::ID
QUERY point(id: ID) => p <- N<Person>(id) RETURN p
QUERY named(name: String) => p <- N<Person>({ name: name }) RETURN p::{name, age}
QUERY hop(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p
QUERY names(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p::{name, years: age}
QUERY wide(id: ID) => p <- N<Hub>(id)::Out<Holds> RETURN p
QUERY wideIds(id: ID) => p <- N<Hub>(id)::Out<Holds> RETURN p::ID
QUERY wideFiltered(id: ID) => p <- N<Hub>(id)::Out<Holds>::WHERE(_::{age}::GT(90)) RETURN p
QUERY wideCount(id: ID) => c <- N<Hub>(id)::Out<Holds>::WHERE(_::{age}::GT(90))::COUNT RETURN c
QUERY twoHops(id: ID) => c <- N<Person>(id)::Out<Knows>::Out<Knows>::COUNT RETURN c
QUERY distinct(id: ID) => c <- N<Person>(id)::Out<Knows>::Out<Knows>::DEDUP::COUNT RETURN c
QUERY range(low: U8) => p <- N<Person>::WHERE(_::{age}::GTE(low)) RETURN p::COUNT
QUERY oldest() => p <- N<Person>::ORDER<Desc>(_::{age})::RANGE(0, 10) RETURN p::{name}
QUERY page() => p <- N<Person>::RANGE(0, 20) RETURN p
QUERY total() => RETURN N<Person>::COUNT
QUERY numbers(vec: [F64]) => RETURN "ok"
`;

interface Options {
  people: number;
  milliseconds: number;
  /** Queries; all when there are none. */
  only: readonly string[];
}

function readOptions(args: string[]): Options {
  return {
    people: numberOption(args, 'people', 10_000),
    milliseconds: numberOption(args, 'ms', 400),
    only: listOption(args, 'only', []),
  };
}

interface World {
  db: EmbeddedDatabase;
  people: string[];
  hubs: string[];
}

const linked = 1_000;

async function sow(db: EmbeddedDatabase, count: number): Promise<World> {
  for (let at = 0; at < count; at += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, count - at) }, (_, i) => ({
      name: `person ${at + i}`,
      age: (at + i) % 100,
      city: `city ${(at + i) % 50}`,
      bio: `some words about person ${at + i}, enough for a line of text in a reply`,
    }));
    await db.call('people', { rows });
  }
  const { p: people } = await db.call<{ p: string[] }>('ids');
  const some = (from: number, length: number) =>
    Array.from({ length }, (_, i) => people[(from * 7919 + i * 104_729) % people.length]!);
  for (let i = 0; i < Math.min(linked, people.length); i++) {
    await db.call('link', { a: people[i], bs: some(i, 20) });
  }
  const hubs: string[] = [];
  for (let no = 0; no < 20; no++) {
    hubs.push((await db.call<{ h: string }>('hub', { no, bs: some(no, 400) })).h);
  }
  return { db, people, hubs };
}

type Calls = [name: string, query: string, args: object[]][];

function callsOf({ people, hubs }: World): Calls {
  const ids = (list: string[]) => list.map((id) => ({ id }));
  const readers = ids(people.slice(0, Math.min(linked, people.length)));
  const wide = ids(hubs);
  const random = randomOf(3);
  const number = () => Number((random() - 0.5).toPrecision(7));
  const bodies = Array.from({ length: 50 }, () => ({ vec: Array.from({ length: 768 }, number) }));
  return [
    ['point read', 'point', readers],
    ['by unique index', 'named', readers.map((_, i) => ({ name: `person ${i}` }))],
    ['1 hop, 20 rows', 'hop', readers],
    ['1 hop, 20 rows, 2 members', 'names', readers],
    ['1 hop, 400 rows', 'wide', wide],
    ['1 hop, 400 ids', 'wideIds', wide],
    ['1 hop, 400 rows, filter keeps 9 %', 'wideFiltered', wide],
    ['1 hop, 400 rows, filtered count', 'wideCount', wide],
    ['2 hops, count of 400', 'twoHops', readers],
    ['2 hops, distinct count', 'distinct', readers],
    ['range of an index, count of 10 %', 'range', [{ low: 90 }]],
    ['top 10 by an index', 'oldest', [{}]],
    ['first 20 of a type', 'page', [{}]],
    ['count of a type', 'total', [{}]],
    ['768 numbers in, a word out', 'numbers', bodies],
  ];
}

/** Microseconds of each call, sorted. */
function measure(db: EmbeddedDatabase, query: string, args: object[], milliseconds: number) {
  const times: number[] = [];
  const bodies = args.map((each) => Buffer.from(JSON.stringify(each)));
  const one = (i: number): number => {
    const started = performance.now();
    const reply = db.database.call(query, bodies[i % bodies.length]!);
    if (reply instanceof Promise) throw new TypeError(`${query} did not run on this thread`);
    return (performance.now() - started) * 1000;
  };
  for (let i = 0; i < 300; i++) one(i);
  const end = performance.now() + milliseconds;
  for (let i = 0; performance.now() < end; i++) times.push(one(i));
  return times.sort((a, b) => a - b);
}

export async function run(args: string[]): Promise<void> {
  const options = readOptions(args);
  const dataDir = mkdtempSync(join(tmpdir(), 'trellis-bench-'));
  const db = await open({ dataDir, sources: [{ path: 'bench.hx', text: source }] });
  try {
    const world = await sow(db, options.people);
    const rows: Cell[][] = [];
    for (const [name, query, calls] of callsOf(world)) {
      if (options.only.length > 0 && !options.only.includes(query)) continue;
      const times = measure(db, query, calls, options.milliseconds);
      const at = (part: number) => times[Math.floor(times.length * part)]!.toFixed(1);
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
      rows.push([name, at(0.5), at(0.99), Math.round(1e6 / mean)]);
      // The event loop turns, as between requests.
      await new Promise((resolve) => setImmediate(resolve));
    }
    console.log(printTable(['read', 'p50 us', 'p99 us', 'calls/s'], rows));
  } finally {
    await db.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
