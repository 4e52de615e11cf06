// `trellis recall`: how many of the nearest neighbours the indexes find; asks a running server, or opens
// the data directory itself.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenDatabase, type Recall, fail } from '../../engine/index.js';
import type { CommandLine } from './arguments.js';
import type { Config } from '../config/config.js';
import { databaseOptions } from '../config/database-options.js';
import { exitCodes } from '../process/exit-code.js';
import { socketPathOf } from '../http/listening.js';
import { createLog, printLine } from '../observe/log.js';
import { loadProgram, programOptions } from '../project/program.js';
import { recallBody } from '../endpoint/vector-admin.js';
import { askServer } from '../process/running-server.js';

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
