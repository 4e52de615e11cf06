// `npm run bench -- text [--peers minisearch,tantivy,bm25s]`: measures keyword search over short documents with
// Zipf-distributed terms, in this process and over HTTP, compared with minisearch in this process, and Tantivy and
// bm25s in Python processes. Prints time and memory of building, time of queries of one to three terms, and the
// overlap of the ten best.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { startBenchServer } from '../support/load.js';
import { loadPeers } from '../peer/peer-install.js';
import { type TextPeer, textPeers } from '../peer/text-peer.js';
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

/** A search engine that holds the documents. Lists of queries are named by their places. */
interface Contender {
  name: string;
  time(list: number, seconds: number): Promise<Timing> | Timing;
  /** The ten best of each query. */
  search(list: number): Promise<number[][]> | number[][];
}

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
  cpu: number;
  bytes: number;
}

/** CPU and memory of this process while `build` runs. */
async function measureBuild<T>(build: () => Promise<T>): Promise<Built<T>> {
  const before = memoryBytes();
  const started = performance.now();
  const usage = process.cpuUsage();
  const index = await build();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(usage);
  return { index, seconds, cpu: (user + system) / 1e6, bytes: memoryBytes() - before };
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

/** Share of the ten best of a peer that ours has as well, over all queries. */
function overlap(ours: readonly number[][], theirs: readonly number[][]): number {
  let same = 0;
  let total = 0;
  for (const [query, found] of theirs.entries()) {
    const own = new Set(ours[query]);
    same += found.filter((no) => own.has(no)).length;
    total += found.length;
  }
  return same / Math.max(1, total);
}

function ownContender(db: EmbeddedDatabase, queries: readonly string[][]): Contender {
  const call = (text: string) => db.call<{ d: { no: number }[] }>('search', { text });
  return {
    name: 'TrellisDB',
    time: (list, seconds) => oneByOne((n) => call(textOf(queries[list]!, n)), seconds),
    search: async (list) => {
      const found: number[][] = [];
      for (const text of queries[list]!) found.push((await call(text)).d.map(({ no }) => no));
      return found;
    },
  };
}

function miniContender(mini: MiniSearch, queries: readonly string[][]): Contender {
  const search = (text: string): number[] =>
    mini
      .search(text)
      .slice(0, 10)
      .map(({ id }) => id);
  return {
    name: 'minisearch',
    time: (list, seconds) => oneByOne((n) => search(textOf(queries[list]!, n)), seconds),
    search: (list) => queries[list]!.map(search),
  };
}

const textOf = (texts: readonly string[], n: number): string => texts[n % texts.length]!;

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

const columns = [
  'terms',
  'contender',
  'p50 us',
  'p99 us',
  'CPU us/search',
  'p50 ratio',
  'CPU ratio',
  'same top 10',
];

/** Ratios are the peer's time divided by ours: below 1 the peer is faster. */
async function compare(
  list: number,
  contenders: readonly Contender[],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Cell[][]> {
  const time = async (contender: Contender): Promise<Timing> => contender.time(list, seconds);
  for (const contender of contenders) await time(contender);
  const timings = await interleave(contenders, rounds, time);
  const [own] = timings;
  const best: number[][][] = [];
  for (const contender of contenders) best.push(await contender.search(list));
  return timings.map((timing, i): Cell[] => {
    const { p50, p99, cpu } = timing.rounds;
    const ratios = [timing.p50 / own!.p50, timing.cpu / own!.cpu].map((it) => `${it.toFixed(2)}x`);
    const same = `${(overlap(best[0]!, best[i]!) * 100).toFixed(0)} %`;
    const beside = i === 0 ? ['', '', ''] : [...ratios, same];
    return [list + 1, contenders[i]!.name, p50, p99, cpu, ...beside];
  });
}

export async function run(args: string[]): Promise<void> {
  const count = numberOption(args, 'documents', 100_000);
  const times = {
    rounds: numberOption(args, 'rounds', 3),
    seconds: numberOption(args, 'seconds', 2),
  };
  const wanted = listOption(args, 'peers', ['minisearch', 'tantivy', 'bm25s']);
  const { documents, queries } = generate(count);
  const peers = await loadPeers(wanted.includes('minisearch') ? ['minisearch@7.2.0'] : []);
  const Class = (peers.get('minisearch') as { default: MiniSearchClass } | undefined)?.default;
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-bench-'));
  const python: TextPeer[] = [];
  try {
    const own = await measureBuild(() => fill(folder, documents));
    const mini = Class && (await measureBuild(async () => buildMini(Class, documents)));
    python.push(...textPeers(wanted, documents, queries));
    console.log(`${count} documents of 8 to 32 terms out of ${vocabulary}\n`);
    console.log(buildTable(own, mini, python, folder));
    const contenders = [
      ownContender(own.index, queries),
      ...(mini ? [miniContender(mini.index, queries)] : []),
      ...python,
    ];
    const rows: Cell[][] = [];
    for (const list of queries.keys()) rows.push(...(await compare(list, contenders, times)));
    await own.index.close();
    for (const [list, texts] of queries.entries()) {
      const micros = await overHttp(folder, texts, times.rounds);
      rows.push([list + 1, 'TrellisDB over HTTP', micros, '', '', '', '', '']);
    }
    console.log(`\nA search for the ten best\n\n${printTable(columns, rows)}`);
  } finally {
    for (const peer of python) await peer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function buildMini(Class: MiniSearchClass, documents: readonly string[]): MiniSearch {
  const mini = new Class({ fields: ['body'] });
  mini.addAll(documents.map((body, id) => ({ id, body })));
  return mini;
}

function buildTable(
  own: Built<unknown>,
  mini: Built<unknown> | undefined,
  python: readonly TextPeer[],
  folder: string,
): string {
  const disk = statSync(join(folder, 'graph', 'data.mdb')).size;
  const rows: Cell[][] = [
    ['TrellisDB, durable, with the documents', own.seconds, own.cpu, own.bytes / 1e6, disk / 1e6],
  ];
  const inMemory = 'in memory only';
  if (mini) rows.push(['minisearch', mini.seconds, mini.cpu, mini.bytes / 1e6, inMemory]);
  for (const { name, seconds, cpu } of python) rows.push([name, seconds, cpu, '', inMemory]);
  return printTable(['index', 'build s', 'build CPU s', 'heap MB', 'disk MB'], rows);
}
