// Requests per second of a real server over loopback: health, point read, one hop, keyword search, vector search and
// durable creation, at 1, 64 and 256 connections. The load generator shares the machine, so the processor time per
// request is the steadier figure. `--only vector,hop` runs the calls whose names hold one of the words; `--polls 50` says what a page of the
// explorer costs them instead.
import { connect } from 'node:net';
import {
  type BenchServer,
  type Load,
  type Measured,
  measure,
  startBenchServer,
} from '../support/load.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { randomOf } from '../support/seeded-random.js';
import { decimals, sowVectors } from '../support/served-vectors.js';
import { type Cell, printTable } from '../support/table.js';
import { type VectorSet, generateSet } from '../support/vector-data.js';
import { measurePolled, pollColumns } from './polls.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8, city: String, bio: String }
N::Event { no: I64, note: String }
V::Passage { no: I64 }
V::Narrow { no: I64 }
E::Knows { From: Person, To: Person, Properties: { since: Date DEFAULT NOW } }
QUERY people(rows: [{name: String, age: U8, city: String, bio: String}]) =>
  FOR {name, age, city, bio} IN rows { AddN<Person>({ name, age, city, bio }) }
  RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY link(a: ID, bs: [ID]) => FOR b IN bs { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY passages(vecs: [[F64]]) => v <- BatchAddV<Passage>(vecs) RETURN v::ID
QUERY narrows(vecs: [[F64]]) => v <- BatchAddV<Narrow>(vecs) RETURN v::ID
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
QUERY friends(id: ID) => p <- N<Person>(id)::Out<Knows> RETURN p
QUERY words(text: String) => p <- SearchBM25<Person>(text, 10) RETURN p::{name, score}
QUERY near(vec: [F64]) => v <- SearchV<Passage>(vec, 10) RETURN v::{id, score}
QUERY nearNarrow(vec: [F64]) => v <- SearchV<Narrow>(vec, 10) RETURN v::{id, score}
QUERY create(no: I64, note: String) => e <- AddN<Event>({ no, note }) RETURN e::ID
`;

interface Options {
  seconds: number;
  people: number;
  vectors: number;
  connections: number[];
  workers: number;
  only: readonly string[];
  polls: number;
}

function readOptions(args: string[]): Options {
  return {
    seconds: numberOption(args, 'seconds', 5),
    people: numberOption(args, 'people', 10_000),
    vectors: numberOption(args, 'vectors', 10_000),
    connections: listOption(args, 'connections', ['1', '64', '256']).map(Number),
    workers: numberOption(args, 'workers', 1),
    only: listOption(args, 'only', ['']),
    polls: numberOption(args, 'polls', 0),
  };
}

const dimensions = 768;
const terms = Array.from({ length: 2_000 }, (_, i) => `term${i.toString(36)}x`);

/** Zipf-like: few words are common, most are rare. */
const wordOf = (random: () => number): string => terms[Math.floor(terms.length * random() ** 3)]!;

/** People with many friends, whose results are long (25 KB and more). */
const wideRows = 400;
const wideHubs = (ids: string[]): string[] => ids.slice(-20);

async function sowPeople(server: BenchServer, count: number): Promise<string[]> {
  const random = randomOf(7);
  for (let at = 0; at < count; at += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, count - at) }, (_, i) => ({
      name: `person ${at + i}`,
      age: (at + i) % 100,
      city: `city ${(at + i) % 50}`,
      bio: Array.from({ length: 12 }, () => wordOf(random)).join(' '),
    }));
    await server.post('people', { rows });
  }
  const { p: ids } = (await server.post('ids', {})) as { p: string[] };
  for (let i = 0; i < Math.min(ids.length, 1_000); i++) {
    const bs = Array.from({ length: 20 }, () => ids[Math.floor(random() * ids.length)]!);
    await server.post('link', { a: ids[i], bs });
  }
  for (const a of wideHubs(ids)) await server.post('link', { a, bs: ids.slice(0, wideRows) });
  return ids;
}

/**
 * Loads the same vectors as two types: `near` searches with the default `ef_search`, `nearNarrow` with
 * this one.
 */
const narrowWidth = 32;
const settings = `[vectors.Narrow]\nef_search = ${narrowWidth}\n`;

/** The part of the true ten nearest that a query of the server finds. */
async function recallOf(
  server: BenchServer,
  path: string,
  set: VectorSet,
  ids: string[],
): Promise<string> {
  let hits = 0;
  for (const [i, query] of set.queries.entries()) {
    const { v } = (await server.post(path, { vec: decimals(query) })) as { v: { id: string }[] };
    const found = new Set(v.map(({ id }) => id));
    for (const row of set.truth[i]!) if (found.has(ids[row]!)) hits++;
  }
  return (hits / (set.queries.length * 10)).toFixed(4);
}

function loads(ids: string[], set: VectorSet): [string, Load][] {
  const random = randomOf(11);
  const many = (body: () => object) => Array.from({ length: 200 }, () => JSON.stringify(body()));
  const vectors = set.queries.map((vec) => JSON.stringify({ vec: decimals(vec) }));
  const hub = () => ids[Math.floor(random() * Math.min(ids.length, 1_000))];
  return [
    ['health GET', { method: 'GET', path: 'livez' }],
    [
      'point read',
      { path: 'person', bodies: many(() => ({ id: ids[Math.floor(random() * ids.length)] })) },
    ],
    ['1 hop, 20 rows', { path: 'friends', bodies: many(() => ({ id: hub() })) }],
    [
      `1 hop, ${wideRows} rows`,
      { path: 'friends', bodies: wideHubs(ids).map((id) => JSON.stringify({ id })) },
    ],
    [
      'keyword search, 2 terms',
      { path: 'words', bodies: many(() => ({ text: `${wordOf(random)} ${wordOf(random)}` })) },
    ],
    [`vector search, ${dimensions} d`, { path: 'near', bodies: vectors }],
    [`vector search, ef ${narrowWidth}`, { path: 'nearNarrow', bodies: vectors }],
    ['durable create', { path: 'create', bodies: many(() => ({ no: 1, note: 'a short note' })) }],
  ];
}

/** Latency of one connection in microseconds: autocannon rounds to milliseconds. */
async function sequential(
  server: BenchServer,
  load: Load,
  count: number,
): Promise<[number, number]> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise((resolve) => socket.once('connect', resolve));
  const bodies = load.bodies ?? [''];
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const body = load.method === 'GET' ? '' : bodies[i % bodies.length]!;
    const line = `${load.method ?? 'POST'} /${load.path} HTTP/1.1`;
    const head = `${line}\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    const length = load.method === 'GET' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const started = process.hrtime.bigint();
    await new Promise<void>((resolve) => {
      let text = '';
      const read = (chunk: Buffer): void => {
        text += chunk.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        const size = /content-length: (\d+)/i.exec(text)?.[1];
        if (end < 0 || size === undefined || text.length < end + 4 + Number(size)) return;
        socket.off('data', read);
        resolve();
      };
      socket.on('data', read);
      socket.write(`${head}${length}\r\n${body}`);
    });
    times.push(Number(process.hrtime.bigint() - started) / 1e3);
  }
  socket.destroy();
  times.sort((a, b) => a - b);
  return [times[count >> 1]!, times[Math.floor(count * 0.99)]!];
}

function row(name: string, connections: number, run: Measured, exact?: [number, number]): Cell[] {
  const latency = exact ?? [run.p50Ms * 1e3, run.p99Ms * 1e3];
  const { requestsPerSecond, cpuMicros, failed } = run;
  return [
    name,
    String(connections),
    requestsPerSecond,
    latency[0],
    latency[1],
    cpuMicros,
    String(failed),
  ];
}

const columns = [
  'call',
  'connections',
  'requests/s',
  'p50 us',
  'p99 us',
  'CPU us/request',
  'failed',
];

export async function run(args: string[]): Promise<void> {
  const options = readOptions(args);
  const set = generateSet(options.vectors, dimensions);
  const server = await startBenchServer(source, [], settings);
  try {
    const started = Date.now();
    const people = await sowPeople(server, options.people);
    const passages = await sowVectors(server, 'passages', set.base);
    const narrows = await sowVectors(server, 'narrows', set.base);
    const seconds = (Date.now() - started) / 1000;
    const recall = await recallOf(server, 'near', set, passages);
    const narrow = await recallOf(server, 'nearNarrow', set, narrows);
    console.log(
      `${options.people} people, 20,000 edges, twice ${options.vectors} clustered vectors of ` +
        `${dimensions}: stored in ${seconds.toFixed(1)} s; vector search finds ${recall} of the ten ` +
        `nearest, with ef_search ${narrowWidth} ${narrow}\n`,
    );
    const rows: Cell[][] = [];
    const wanted = loads(people, set).filter(([name]) =>
      options.only.some((word) => name.includes(word)),
    );
    for (const [name, load] of wanted) {
      await measure(server, load, 16, 1, 1);
      for (const connections of options.connections) {
        if (options.polls > 0) {
          rows.push(await measurePolled(server, [name, load], connections, options));
          continue;
        }
        const exact = connections === 1 ? await sequential(server, load, 1_000) : undefined;
        const run = await measure(server, load, connections, options.seconds, options.workers);
        rows.push(row(name, connections, run, exact));
      }
    }
    console.log(printTable(options.polls > 0 ? pollColumns : columns, rows));
  } finally {
    await server.stop();
  }
}
