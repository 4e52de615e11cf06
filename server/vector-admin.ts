// What operators see of the indexes: `GET /_admin/indexes`, `POST /_admin/recall`, and `trellis recall`,
// which asks a running server or opens the data directory itself. Members are in snake_case, as
// everywhere over HTTP.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, type OpenDatabase, type Recall, excerpt, fail } from '../engine/index.js';
import type { CommandLine } from './arguments.js';
import type { Config } from './config.js';
import { databaseOptions } from './database-options.js';
import { exitCodes } from './exit-code.js';
import { socketPathOf } from './listening.js';
import { createLog, printLine } from './log.js';
import { loadProgram, programOptions } from './program.js';
import { askServer } from './running-server.js';

const samplesStandard = 100;
const samplesMax = 10_000;
const kStandard = 10;
const kMax = 1_000;

/** Names as they stand in JSON; undefined becomes null. */
function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase);
  if (value === null || typeof value !== 'object') return value ?? null;
  const members = Object.entries(value).map(([name, inner]) => {
    return [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), inSnakeCase(inner)];
  });
  return Object.fromEntries(members);
}

export const indexesBody = (database: Database): unknown => ({
  indexes: inSnakeCase(database.indexes()),
});

/** `type`, `samples` and `k` are in the query string. */
export async function recallBody(database: Database, asked: URLSearchParams): Promise<unknown> {
  const type = asked.get('type') ?? undefined;
  const samples = numberOf('samples', asked.get('samples'), samplesStandard, samplesMax);
  const k = numberOf('k', asked.get('k'), kStandard, kMax);
  return { recall: inSnakeCase(await database.recall(type, { samples, k })) };
}

function numberOf(
  param: string,
  text: string | null | undefined,
  standard: number,
  max: number,
): number {
  if (text === null || text === undefined) return standard;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) fail('PARAM_RANGE', { param, min: 1, max, got: excerpt(text) });
  return value;
}

/** `trellis recall [TYPE] [--samples N] [--k N]`. */
export async function recallCommand(
  { words, flags }: CommandLine,
  config: Config,
  openDatabase: OpenDatabase,
): Promise<number> {
  const asked = new URLSearchParams();
  if (words[0] !== undefined) asked.set('type', words[0]);
  for (const name of ['samples', 'k']) {
    const text = flags.get(name);
    if (text !== undefined) asked.set(name, text);
  }
  const body = isServed(config)
    ? ((await askServer(config, `recall?${asked}`, {})) as RecallBody)
    : await here(config, asked, openDatabase);
  for (const { type, vectors, samples, k, recall, search_micros: micros } of body.recall) {
    const share = (recall * 100).toFixed(2);
    printLine(
      `${type}: recall@${k} ${share} % (${samples} samples of ${vectors} vectors, ` +
        `${Math.round(micros)} us per search)`,
    );
  }
  if (body.recall.length === 0) printLine('There are no vector types.');
  return exitCodes.ok;
}

interface RecallBody {
  recall: (Omit<Recall, 'searchMicros'> & { search_micros: number })[];
}

/** Whether a server holds the directory and serves a port. */
function isServed({ dataDir, server }: Config): boolean {
  try {
    const { pid, port } = JSON.parse(readFileSync(join(dataDir, 'LOCK'), 'utf8')) as {
      pid: number;
      port?: number | null;
    };
    process.kill(pid, 0);
    return typeof port === 'number' || socketPathOf(server.host) !== undefined;
  } catch {
    return false;
  }
}

async function here(
  config: Config,
  asked: URLSearchParams,
  openDatabase: OpenDatabase,
): Promise<RecallBody> {
  const { program } = loadProgram(programOptions(config));
  if (program === undefined) return fail('SOURCE_INVALID', { what: 'The sources have errors.' });
  const log = createLog({ level: 'warn', format: 'text' });
  const database = await openDatabase(databaseOptions(config, program, log));
  try {
    return (await recallBody(database, asked)) as RecallBody;
  } finally {
    await database.close({ snapshot: false });
  }
}
