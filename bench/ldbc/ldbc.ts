// `npm run bench -- ldbc [FOLDER]`: runs the interactive queries of LDBC SNB on a folder of its topology
// (nodes/*.csv, edges/*.csv, expected.json), or without FOLDER on a generated network of the same counts.
// Each query has its natural form. Checks every result of expected.json for all systems; then TrellisDB, Kuzu,
// SQLite and Neo4j alternate, embedded, and the server answers over HTTP. `--contenders kuzu,sqlite,neo4j`.
import { join } from 'node:path';
import { cacheFolder } from '../support/bench-cache.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { startBenchServer } from '../support/load.js';
import { type Timing, interleave, oneByOne } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';
import {
  type LdbcContender,
  kuzuContender,
  loadTrellis,
  trellisContender,
} from './ldbc-contender.js';
import { writeNetwork } from './ldbc-files.js';
import { type LdbcFolder, readFolder } from './ldbc-folder.js';
import { neo4jContender } from './ldbc-neo4j.js';
import { sqliteContender } from './ldbc-sqlite.js';
import { makeNetwork } from './ldbc-network.js';
import type { Expected } from './ldbc-oracle.js';
import { canonical, cypher } from './ldbc-query.js';

interface Options {
  seconds: number;
  rounds: number;
  queries: readonly string[];
  parts: readonly string[];
  peers: readonly string[];
}

/** Answers of a network of our own. */
const requestCount = 50;

function ownFolder(scale: number): string {
  const cache = cacheFolder(`ldbc-${scale}-files-1`);
  if (!cache.isComplete) {
    const rows = writeNetwork(makeNetwork(scale), cache.path, requestCount);
    console.log(`made ${rows.toLocaleString('en-US')} rows in ${cache.path}`);
    cache.complete();
  }
  return cache.path;
}

/** How many answers differ; the first one is shown. */
async function checkAnswers(contender: LdbcContender, query: string, calls: readonly Expected[]) {
  let wrong = 0;
  for (const { args, rows } of calls) {
    const found = canonical(contender.rows(query, args, await contender.run(query, args)));
    const wanted = canonical(rows);
    if (found !== wanted && wrong++ === 0) {
      const shown = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
      console.log(`${contender.name} ${query} ${JSON.stringify(args)}: ${shown(found)}`);
      console.log(`  expected ${shown(wanted)}`);
    }
  }
  return wrong;
}

const columns = [
  'query',
  'contender',
  'p50 us',
  'p99 us',
  'CPU us/call',
  'wrong',
  'p50 ratio',
  'p99 ratio',
  'CPU ratio',
];

/** Medians of rounds, all in turn; gives the rows, and how often each peer's p50 and p99 are ours. */
async function timeQuery(
  contenders: readonly LdbcContender[],
  query: string,
  calls: readonly Expected[],
  { seconds, rounds }: Options,
): Promise<{ rows: Cell[][]; ratios: number[][] }> {
  const wrong: number[] = [];
  for (const contender of contenders) wrong.push(await checkAnswers(contender, query, calls));
  // The figures are still printed; the process ends with status 1.
  if (wrong.some((count) => count > 0)) process.exitCode = 1;
  const args = calls.map((call) => call.args);
  const time = async (contender: LdbcContender): Promise<Timing> =>
    contender.time?.(query, args, seconds) ??
    oneByOne((n) => contender.run(query, args[n % args.length]!), seconds);
  // Compilers of all need some thousand calls.
  for (const contender of contenders) await time(contender);
  const timings = await interleave(contenders, rounds, time);
  const own = timings[0]!;
  const ratios = timings.map(({ p50, p99, cpu }) => [p50 / own.p50, p99 / own.p99, cpu / own.cpu]);
  const rows = timings.map(({ rounds: { p50, p99, cpu } }, i): Cell[] => {
    const beside = ratios[i]!.map((ratio) => (i === 0 ? '' : `${ratio.toFixed(2)}x`));
    const faults = `${wrong[i]} of ${calls.length}`;
    return [query, contenders[i]!.name, p50, p99, cpu, faults, ...beside];
  });
  return { rows, ratios };
}

const mean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

async function runEmbedded(folder: LdbcFolder, dataDir: string, name: string, options: Options) {
  const has = (peer: string): boolean => options.peers.includes(peer);
  const found = [
    await trellisContender(folder, dataDir),
    has('kuzu') ? await kuzuContender(folder, name) : undefined,
    has('sqlite') ? await sqliteContender(folder, name) : undefined,
    has('neo4j') ? await neo4jContender(folder, name) : undefined,
  ];
  const contenders = found.filter((each) => each !== undefined);
  const rows: Cell[][] = [];
  const ratios: number[][][] = [];
  for (const query of options.queries) {
    const calls = folder.expected[query];
    if (calls === undefined || calls.length === 0) {
      console.log(`${query} is left out: expected.json has no calls of it`);
      continue;
    }
    const timed = await timeQuery(contenders, query, calls, options);
    rows.push(...timed.rows);
    ratios.push(timed.ratios);
  }
  for (const contender of contenders) await contender.close();
  console.log(`\nEmbedded\n\n${printTable(columns, rows)}\n`);
  for (const [i, contender] of contenders.entries()) {
    if (i === 0) continue;
    const each = ratios.map((query) => query[i]!);
    const [p50, p99, cpu] = [0, 1, 2].map((at) => mean(each.map((one) => one[at]!)).toFixed(2));
    const slower = each.filter((one) => one[0]! < 1).length;
    console.log(
      `${contender.name}, geometric means of its time divided by ours: p50 ${p50}x, p99 ${p99}x, ` +
        `CPU ${cpu}x; faster than ours at p50 in ${slower} of ${each.length}`,
    );
  }
}

async function runHttp(folder: LdbcFolder, dataDir: string, { queries, seconds }: Options) {
  const settings = '[text]\nenabled = false\n';
  const server = await startBenchServer(folder.source, ['--data', dataDir], settings);
  const rows: Cell[][] = [];
  try {
    for (const query of queries) {
      const calls = folder.expected[query] ?? [];
      if (calls.length === 0) continue;
      const requests = calls.map(({ args }) => requestBytes(query, JSON.stringify(args)));
      await sendHttp(server.url, requests, { connections: 1 });
      const timed = await sendHttp(server.url, requests, { connections: 1, seconds });
      rows.push([query, timed.perSecond, timed.p50, timed.p99, String(timed.failed)]);
    }
  } finally {
    await server.stop();
  }
  const heads = ['query', 'requests/s', 'p50 us', 'p99 us', 'failed'];
  console.log(`\nOver HTTP, one connection\n\n${printTable(heads, rows)}`);
}

export async function run(args: string[]): Promise<void> {
  const options: Options = {
    seconds: numberOption(args, 'seconds', 1),
    rounds: numberOption(args, 'rounds', 3),
    queries: listOption(args, 'queries', Object.keys(cypher)),
    parts: listOption(args, 'part', ['embedded', 'http']),
    peers: listOption(args, 'contenders', ['kuzu', 'sqlite', 'neo4j']),
  };
  const scale = numberOption(args, 'scale', 1);
  const [given] = args;
  const path = given === undefined || given.startsWith('--') ? ownFolder(scale) : given;
  const name = path === given ? `ldbc-${join(path).replace(/\W+/g, '-')}` : `ldbc-${scale}`;
  const folder = readFolder(path);
  const dataDir = loadTrellis(path, folder, name);
  if (options.parts.includes('embedded')) await runEmbedded(folder, dataDir, name, options);
  if (options.parts.includes('http')) await runHttp(folder, dataDir, options);
}
