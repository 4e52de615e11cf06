// `npm run bench -- text`: measures keyword search over short documents with Zipf-distributed terms, in this
// process and over HTTP, compared with minisearch. Prints time and memory of building, time of queries of one
// to three terms, and the overlap of the ten best.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { numberOption } from '../support/bench-option.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { startBenchServer } from '../support/load.js';
import { loadPeers } from '../peer/peer-install.js';
import { type Timing, interleave, median, oneByOne } from '../support/sample-times.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Document { no: U32, body: String }
QUERY add(rows: [{no: U32, body: String}]) =>
  FOR {no, body} IN rows { AddN<Document>({ no, body }) }
  RETURN "ok"
QUERY search(text: String) => d <- SearchBM25<Document>(text, 10) RETURN d::{no, score}
`;
const sources = [{ path: 'main.hx', text: source }];

interface MiniSearch {
  addAll(rows: object[]): void;
  search(text: string): { id: number; score: number }[];
}
type MiniSearchClass = new (options: object) => MiniSearch;

const syllables = [
  'ba',
  'ke',
  'di',
  'fo',
  'gu',
  'la',
  'me',
  'ni',
  'po',
  'ru',
  'sa',
  'te',
  'vi',
  'zo',
];

/** A word that no stemmer changes: the number in syllables, then x. */
function wordOf(number: number): string {
  let word = '';
  for (let rest = number + 200; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length];
  return `${word}x`;
}

interface Corpus {
  documents: string[];
  /** By number of terms, 1 to 3. */
  queries: string[][];
}

const vocabulary = 30_000;
const queryCount = 300;

/** Term r of the vocabulary is drawn with a chance proportional to 1 / r. */
function generate(count: number): Corpus {
  const random = randomOf(21);
  const words = Array.from({ length: vocabulary }, (_, i) => wordOf(i));
  const zipf = (): string => words[Math.floor(vocabulary ** random()) - 1]!;
  const documents = Array.from({ length: count }, () => {
    const length = 8 + Math.floor(random() * 25);
    return Array.from({ length }, zipf).join(' ');
  });
  // Terms of queries come from documents, so each finds something.
  const term = (): string => {
    const document = documents[Math.floor(random() * count)]!.split(' ');
    return document[Math.floor(random() * document.length)]!;
  };
  const queries = [1, 2, 3].map((terms) =>
    Array.from({ length: queryCount }, () => Array.from({ length: terms }, term).join(' ')),
  );
  return { documents, queries };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function memoryBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

interface Built<T> {
  index: T;
  seconds: number;
  bytes: number;
}

/** CPU and memory of this process while `build` runs. */
async function measureBuild<T>(build: () => Promise<T>): Promise<Built<T>> {
  const before = memoryBytes();
  const started = performance.now();
  const index = await build();
  const seconds = (performance.now() - started) / 1000;
  return { index, seconds, bytes: memoryBytes() - before };
}

async function fill(folder: string, documents: readonly string[]): Promise<EmbeddedDatabase> {
  const db = await open({ dataDir: folder, sources });
  const batch = 5_000;
  for (let at = 0; at < documents.length; at += batch) {
    const rows = documents.slice(at, at + batch).map((body, i) => ({ no: at + i, body }));
    await db.call('add', { rows });
  }
  return db;
}

/** Share of the ten best of one that the other has as well, over all queries. */
async function overlap(
  db: EmbeddedDatabase,
  mini: MiniSearch,
  queries: readonly string[],
): Promise<number> {
  let same = 0;
  let total = 0;
  for (const text of queries) {
    const { d } = await db.call<{ d: { no: number }[] }>('search', { text });
    const ours = new Set(d.map(({ no }) => no));
    const theirs = mini.search(text).slice(0, 10);
    same += theirs.filter(({ id }) => ours.has(id)).length;
    total += theirs.length;
  }
  return same / Math.max(1, total);
}

/** Median microseconds of a search over HTTP, one connection. */
async function overHttp(folder: string, queries: readonly string[], rounds: number) {
  const server = await startBenchServer(source, ['--data', folder]);
  try {
    const requests = queries.map((text) => requestBytes('search', JSON.stringify({ text })));
    const times: number[] = [];
    await sendHttp(server.url, requests, { connections: 1 });
    for (let i = 0; i < rounds; i++)
      times.push((await sendHttp(server.url, requests, { connections: 1 })).p50);
    return median(times);
  } finally {
    await server.stop();
  }
}

export async function run(args: string[]): Promise<void> {
  const count = numberOption(args, 'documents', 100_000);
  const rounds = numberOption(args, 'rounds', 3);
  const seconds = numberOption(args, 'seconds', 2);
  const { documents, queries } = generate(count);
  const peers = await loadPeers(['minisearch@7.2.0']);
  const Class = (peers.get('minisearch') as { default: MiniSearchClass } | undefined)?.default;
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-bench-'));
  try {
    const own = await measureBuild(() => fill(folder, documents));
    const mini = Class && (await measureBuild(async () => buildMini(Class, documents)));
    printBuilds(own, mini, folder, count);
    const rows: Cell[][] = [];
    for (const [i, texts] of queries.entries())
      rows.push(await compare(i + 1, texts, own.index, mini?.index, rounds, seconds));
    await own.index.close();
    for (const [i, texts] of queries.entries())
      rows[i]!.splice(2, 0, await overHttp(folder, texts, rounds));
    const columns = [
      'terms',
      'ours us',
      'ours over HTTP us',
      'minisearch us',
      'ours is',
      'same top 10',
    ];
    console.log(`\np50 of a search for the ten best\n\n${printTable(columns, rows)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function buildMini(Class: MiniSearchClass, documents: readonly string[]): MiniSearch {
  const mini = new Class({ fields: ['body'] });
  mini.addAll(documents.map((body, id) => ({ id, body })));
  return mini;
}

function printBuilds(
  own: Built<unknown>,
  mini: Built<unknown> | undefined,
  folder: string,
  count: number,
): void {
  const disk = statSync(join(folder, 'graph', 'data.mdb')).size;
  const rows: Cell[][] = [
    ['TrellisDB, durable, with the documents', own.seconds, own.bytes / 1e6, disk / 1e6],
  ];
  if (mini) rows.push(['minisearch', mini.seconds, mini.bytes / 1e6, 'in memory only']);
  console.log(`${count} documents of 8 to 32 terms out of ${vocabulary}\n`);
  console.log(printTable(['index', 'build s', 'heap MB', 'disk MB'], rows));
}

async function compare(
  terms: number,
  texts: readonly string[],
  db: EmbeddedDatabase,
  mini: MiniSearch | undefined,
  rounds: number,
  seconds: number,
): Promise<Cell[]> {
  const textOf = (n: number): string => texts[n % texts.length]!;
  const tasks = [(n: number): unknown => db.call('search', { text: textOf(n) })];
  if (mini) tasks.push((n) => mini.search(textOf(n)).slice(0, 10));
  const time = (task: (n: number) => unknown): Promise<Timing> => oneByOne(task, seconds);
  const [ours, theirs] = await interleave(tasks, rounds, time);
  if (!mini) return [String(terms), ours!.p50, '-', '-', '-'];
  const agreement = `${((await overlap(db, mini, texts)) * 100).toFixed(0)} %`;
  return [
    String(terms),
    ours!.p50,
    theirs!.p50,
    `${(theirs!.p50 / ours!.p50).toFixed(0)}x`,
    agreement,
  ];
}
