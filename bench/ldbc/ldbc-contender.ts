// Runs TrellisDB and Kuzu in the LDBC benchmark. Each loads the files of a folder one time, keeps its data
// between runs, and returns rows in the form of expected.json.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { open } from '../../engine/internal.js';
import { importSeconds } from '../support/import-run.js';
import { cacheFolder, printLoad } from '../support/bench-cache.js';
import { type Kuzu, type Statement, openKuzu } from '../peer/kuzu-peer.js';
import type { Timing } from '../support/sample-times.js';
import { type LdbcFolder, type TypeFile, writeProject } from './ldbc-folder.js';
import { cypher, cypherRows, rowsOf } from './ldbc-query.js';
import { edgeEnds, nodeProperties } from './ldbc-shape.js';

type Args = Record<string, unknown>;

export interface LdbcContender {
  name: string;
  /** The answer as the database gives it: what is timed. */
  run(query: string, args: Args): unknown;
  rows(query: string, args: Args, answer: unknown): unknown[];
  /**
   * Times calls one after another, for about `seconds`. Absent if the caller does it: it is there for a contender
   * in another process.
   */
  time?(query: string, calls: readonly Args[], seconds: number): Timing;
  close(): unknown;
}

/** The data directory, filled from the files of the folder; `name` says which data it holds. */
export function loadTrellis(folder: string, ldbc: LdbcFolder, name: string): string {
  const cache = cacheFolder(`${name}-trellis-1`);
  const dataDir = join(cache.path, 'data');
  if (cache.isComplete) return dataDir;
  const map = writeProject(cache.path, ldbc);
  const seconds = importSeconds(cache.path, dataDir, [resolve(folder), '--mapping', map], false);
  printLoad('TrellisDB', rowCount(ldbc), seconds);
  cache.complete();
  return dataDir;
}

/** Lines of all files, but for their heads. */
function rowCount({ nodes, edges }: LdbcFolder): number {
  let lines = 0;
  for (const { path } of [...nodes, ...edges]) {
    const bytes = readFileSync(path);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  }
  return lines - nodes.length - edges.length;
}

export async function trellisContender(ldbc: LdbcFolder, dataDir: string): Promise<LdbcContender> {
  const sources = [{ path: 'ldbc.hx', text: ldbc.source }];
  const db = await open({ dataDir, sources, textEnabled: false });
  return {
    name: 'TrellisDB',
    run: (query, args) => db.call(query, args),
    rows: (query, _, answer) => rowsOf(query, answer as Record<string, unknown>),
    close: () => db.close(),
  };
}

export async function kuzuContender(
  ldbc: LdbcFolder,
  name: string,
): Promise<LdbcContender | undefined> {
  const cache = cacheFolder(`${name}-kuzu-0.11.3-1`);
  const db = await openKuzu(join(cache.path, 'graph'));
  if (db === undefined) return undefined;
  if (!cache.isComplete) {
    const started = performance.now();
    await copyKuzu(db, ldbc);
    printLoad('Kuzu', rowCount(ldbc), (performance.now() - started) / 1000);
    cache.complete();
  }
  const statements = new Map<string, Statement>();
  for (const [query, text] of Object.entries(cypher)) statements.set(query, await db.prepare(text));
  return {
    name: 'Kuzu',
    run: (query, args) => statements.get(query)!(args),
    rows: (query, args, answer) => cypherRows(query, args, answer as object[]),
    close: () => db.close(),
  };
}

/** Makes the tables, and copies the files into them. */
export async function copyKuzu(db: Kuzu, ldbc: LdbcFolder): Promise<void> {
  for (const text of tablesOf(ldbc)) await db.query(text);
}

/** Tables, and their rows from the files themselves. */
function tablesOf({ nodes, edges }: LdbcFolder): string[] {
  const kinds = { I64: 'INT64', String: 'STRING' };
  const properties = ({ columns }: TypeFile): string[] =>
    [...columns].map(([name, kind]) => `${name} ${kinds[kind]}`);
  const copy = ({ type, path, delimiter }: TypeFile): string =>
    `COPY ${type} FROM '${path}' (HEADER=true, DELIM='${delimiter}', QUOTE='"')`;
  const typesIn = new Set(nodes.map(({ type }) => type));
  return [
    ...Object.keys(nodeProperties).flatMap((type) => {
      if (typesIn.has(type)) return [];
      return [`CREATE NODE TABLE ${type}(id INT64 PRIMARY KEY)`];
    }),
    ...nodes.flatMap((file) => [
      `CREATE NODE TABLE ${file.type}(${['id INT64 PRIMARY KEY', ...properties(file)].join(', ')})`,
      copy(file),
    ]),
    ...edges.flatMap((file) => {
      const [from, to] = edgeEnds[file.type]!;
      const columns = [`FROM ${from} TO ${to}`, ...properties(file)];
      return [`CREATE REL TABLE ${file.type}(${columns.join(', ')})`, copy(file)];
    }),
  ];
}
