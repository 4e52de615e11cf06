// `npm run bench -- embedded`: the engine inside this process, `open()` and calls on this thread:
// latencies of a point read, a hop of 20 rows, and durable writes, alone and 64 parallel.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { numberOption } from '../support/bench-option.js';
import {
  type Task,
  type Timing,
  interleave,
  oneByOne,
  sideBySide,
} from '../support/sample-times.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8, city: String }
E::Knows { From: Person, To: Person }
QUERY people(rows: [{name: String, age: U8, city: String}]) =>
  FOR {name, age, city} IN rows { AddN<Person>({ name, age, city }) }
  RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY link(a: ID, bs: [ID]) => FOR b IN bs { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
QUERY named(name: String) => p <- N<Person>({name: name}) RETURN p
QUERY friends(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p
QUERY friendNames(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p::{id, name}
QUERY friendCount(id: ID) => p <- N<Person>(id)::Out<Knows>::COUNT RETURN p
QUERY create(name: String) => p <- AddN<Person>({ name, age: 1, city: "Lund" }) RETURN p::ID
QUERY join(a: ID, b: ID) => e <- AddE<Knows>::From(a)::To(b) RETURN e::ID
`;

const people = 10_000;
const hubs = 1_000;

async function sow(db: EmbeddedDatabase): Promise<string[]> {
  const random = randomOf(5);
  for (let at = 0; at < people; at += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      name: `person ${at + i}`,
      age: (at + i) % 100,
      city: `city ${(at + i) % 50}`,
    }));
    await db.call('people', { rows });
  }
  const { p: ids } = await db.call<{ p: string[] }>('ids');
  for (let i = 0; i < hubs; i++) {
    const bs = Array.from({ length: 20 }, () => ids[Math.floor(random() * people)]!);
    await db.call('link', { a: ids[i], bs });
  }
  return ids;
}

interface Measurement {
  name: string;
  /** What issue D wants of the median, in microseconds. */
  wanted?: number;
  time: () => Promise<Timing>;
}

function measurements(db: EmbeddedDatabase, ids: string[], seconds: number): Measurement[] {
  let created = 0;
  const any = (n: number): object => ({ id: ids[(n * 7919) % people] });
  const hub = (n: number): object => ({ id: ids[(n * 7919) % hubs] });
  const bytes = (name: string, args: (n: number) => object): Task => {
    return (n) => db.callBytes(name, args(n) as Record<string, unknown>);
  };
  const objects = (name: string, args: (n: number) => object): Task => {
    return (n) => db.call(name, args(n) as Record<string, unknown>);
  };
  const alone = (task: Task) => () => oneByOne(task, seconds);
  const create: Task = () => db.callBytes('create', { name: `new ${created++}` });
  // Persons beyond the hubs, so that the hops stay at 20 rows.
  const far = (n: number): string => ids[hubs + ((n * 7919) % (people - hubs))]!;
  const join: Task = (n) => db.callBytes('join', { a: far(n), b: far(n + 1) });
  const named = (n: number): object => ({ name: `person ${(n * 7919) % people}` });
  return [
    { name: 'point read by id, bytes', wanted: 15, time: alone(bytes('person', any)) },
    { name: 'point read by id, object', wanted: 15, time: alone(objects('person', any)) },
    { name: 'point read by unique name, bytes', time: alone(bytes('named', named)) },
    { name: 'hop, 20 whole rows, bytes', wanted: 40, time: alone(bytes('friends', hub)) },
    { name: 'hop, 20 whole rows, objects', wanted: 40, time: alone(objects('friends', hub)) },
    {
      name: 'hop, 20 rows of 2 members, bytes',
      wanted: 40,
      time: alone(bytes('friendNames', hub)),
    },
    { name: 'hop, count only', time: alone(bytes('friendCount', hub)) },
    { name: 'durable create', time: alone(create) },
    { name: 'durable edge, 256 parallel', time: () => sideBySide(join, 256, seconds) },
    { name: 'durable create, 64 parallel', time: () => sideBySide(create, 64, seconds) },
    { name: 'durable create, 256 parallel', time: () => sideBySide(create, 256, seconds) },
  ];
}

export async function run(args: string[]): Promise<void> {
  const seconds = numberOption(args, 'seconds', 1);
  const rounds = numberOption(args, 'rounds', 5);
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-bench-'));
  const db = await open({ dataDir: folder, sources: [{ path: 'main.hx', text: source }] });
  try {
    const ids = await sow(db);
    const list = measurements(db, ids, seconds);
    for (const { time } of list) await time();
    const timings = await interleave(list, rounds, ({ time }) => time());
    const rows = timings.map((timing, i): Cell[] => {
      const { name, wanted } = list[i]!;
      const { perSecond, p50, p99, cpu } = timing;
      return [name, perSecond, p50, p99, cpu, wanted === undefined ? '' : `<= ${wanted}`];
    });
    const columns = ['call', 'calls/s', 'p50 us', 'p99 us', 'CPU us/call', 'wanted p50'];
    console.log(printTable(columns, rows));
  } finally {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
