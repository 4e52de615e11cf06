// `npm run bench -- compile [--queries 170] [--saves 40]`: measures how long a generated project takes to
// compile, first and warm. Also measures the time from the save of a source file until a running server
// answers with the new program.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, defaultLimits } from '../../engine/internal.js';
import { numberOption } from '../support/bench-option.js';
import { startBenchServer } from '../support/load.js';
import { type Cell, printTable } from '../support/table.js';

const rounds = 30;
const properties = [
  'name: String',
  'age: U8',
  'score: F64',
  'note: String',
  'since: Date DEFAULT NOW',
];

/** Node types in a ring, an edge type from each to the next, and one vector type. */
function schemaOf(types: number): string {
  const nodes = Array.from({ length: types }, (_, i) => {
    return `N::Type${i} { UNIQUE INDEX key: String, INDEX city: String, ${properties.join(', ')} }`;
  });
  const edges = Array.from({ length: types }, (_, i) => {
    const ends = `From: Type${i}, To: Type${(i + 1) % types}`;
    return `E::Edge${i} { ${ends}, Properties: { weight: F64, since: Date DEFAULT NOW } }`;
  });
  return [...nodes, ...edges, 'V::Text { body: String }', ''].join('\n');
}

/** Seven forms in turn: creation, look-up, hops and filters, loops, groups, changes, searches. */
function queryOf(i: number, types: number): string {
  const [t, next] = [i % types, (i + 1) % types];
  const forms = [
    `QUERY add${i}(key: String, city: String, name: String, age: U8) =>
  x <- AddN<Type${t}>({ key: key, city: city, name: name, age: age })
  RETURN x`,
    `QUERY get${i}(key: String) =>
  x <- N<Type${t}>({ key: key })
  RETURN x::{ name, age, friends: _::Out<Edge${t}>::{ name, city }, .. }`,
    `QUERY hops${i}(id: ID, low: U8) =>
  x <- N<Type${t}>(id)
  y <- x::Out<Edge${t}>
    ::WHERE(AND(_::{age}::GTE(low), OR(_::{city}::EQ("Porto"), !_::{name}::CONTAINS("a"))))
  z <- y::Out<Edge${next}>::ORDER<Desc>(_::{score})::RANGE(0, 20)
  RETURN x::{name}, y::|u|{ who: u::{name}, next: u::Out<Edge${next}>::COUNT }, z`,
    `QUERY link${i}(a: ID, rows: [{to: ID, weight: F64}]) =>
  FOR {to, weight} IN rows { AddE<Edge${t}>({ weight: weight })::From(a)::To(to) }
  RETURN "linked"`,
    `QUERY group${i}(city: String) =>
  x <- N<Type${t}>::WHERE(_::{city}::NEQ(city))
  RETURN x::GROUP_BY(city)::ORDER<Desc>(_::{count}), AVG(x::{score})`,
    `QUERY change${i}(key: String, name?: String, age?: U8) =>
  x <- N<Type${t}>({ key: key })::UpsertN({ key: key, name: name, age: age, score: MUL(2.0, 3.5) })
  DROP N<Type${t}>::WHERE(AND(_::{age}::GT(200), EXISTS(_::In<Edge${(i + types - 1) % types}>)))
  RETURN x`,
    `QUERY search${i}(vec: [F64], k: I64, text: String) =>
  v <- SearchV<Text>(vec, k)::PREFILTER(_::{body}::CONTAINS(text))
  w <- SearchBM25<Type${t}>(text, 10)
  RETURN v::{body, score}, w::{name, score}`,
  ];
  return forms[i % forms.length]!;
}

function projectOf(queries: number): string {
  const types = 20;
  const texts = Array.from({ length: queries }, (_, i) => queryOf(i, types));
  return `${schemaOf(types)}\n${texts.join('\n\n')}\n`;
}

const median = (list: readonly number[]): number =>
  [...list].sort((a, b) => a - b)[list.length >> 1]!;

function compileTimes(text: string): number[] {
  return Array.from({ length: rounds }, () => {
    const started = performance.now();
    const { program } = compile([{ path: 'main.hx', text }], {
      compat: false,
      limits: defaultLimits,
    });
    if (program === undefined) throw new RangeError('the generated project does not compile');
    return performance.now() - started;
  });
}

/** Milliseconds from the end of each save to the first new answer, asked for every millisecond. */
async function reloadTimes(text: string, saves: number): Promise<number[]> {
  const version = (i: number) => `${text}\nQUERY version() => RETURN ${i}\n`;
  const server = await startBenchServer(version(0));
  const times: number[] = [];
  try {
    for (let i = 1; i <= saves; i++) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      writeFileSync(join(server.project, 'main.hx'), version(i));
      const started = performance.now();
      while (((await server.post('version', {})) as { data: number }).data !== i)
        await new Promise((resolve) => setTimeout(resolve, 1));
      times.push(performance.now() - started);
    }
  } finally {
    await server.stop();
  }
  return times;
}

export async function run(args: string[]): Promise<void> {
  const queries = numberOption(args, 'queries', 170);
  const text = projectOf(queries);
  const [first, ...warm] = compileTimes(text) as [number, ...number[]];
  const reloads = await reloadTimes(text, numberOption(args, 'saves', 40));
  const row = (name: string, times: readonly number[], limit: number): Cell[] => [
    name,
    times.length,
    median(times),
    Math.max(...times),
    limit,
  ];
  const rows = [
    row('compile, first in a process', [first], 150),
    row('compile, warm', warm, 150),
    row('save to served', reloads, 100),
  ];
  console.log(`${queries} queries, ${text.split('\n').length} lines, ${text.length} bytes\n`);
  console.log(printTable(['', 'runs', 'median ms', 'largest ms', 'at most'], rows));
}
