// `trellis recall` measures which share of the true nearest neighbors the vector indexes find. It asks the
// running server, or opens the data directory.
import { type Recall, fail, openDatabase } from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { databaseOptions } from '../../config/database-options.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { createLog, printLine } from '../../telemetry/log.js';
import { configFromArguments } from '../support/cli-config.js';
import { loadProgram, programOptions } from '../../project/program.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../../terminal/command.js';
import { counted } from '../../terminal/format.js';
import { recallBody } from '../../handlers/indexes.js';
import { failNoData, hasData } from '../support/data-at-rest.js';
import { callServer, isServed } from '../support/running-server.js';

export const recall: Command = {
  name: 'recall',
  about: 'Measure the recall of the vector indexes.',
  words: '[TYPE]',
  flags: {
    ...projectFlags,
    ...keyFlag,
    samples: { value: 'N', about: 'Number of searches to compare (default: 100).' },
    k: { value: 'N', about: 'Number of neighbors of each search (default: 10).' },
  },
  run: measure,
};

async function measure(line: CommandLine): Promise<number> {
  const { words, flags } = line;
  const config = configFromArguments(line);
  const params = new URLSearchParams();
  if (words[0] !== undefined) params.set('type', words[0]);
  for (const name of ['samples', 'k']) {
    const text = flags.get(name);
    if (text !== undefined) params.set(name, text);
  }
  const body = isServed(config)
    ? ((await callServer(config, `recall?${params}`, {})) as RecallBody)
    : await recallLocally(config, params);
  for (const { type, vectors, samples, k, recall: found, search_micros: micros } of body.recall) {
    const percent = (found * 100).toFixed(2);
    const from = `${counted(samples, 'sample')} of ${counted(vectors, 'vector')}`;
    printLine(
      `${type}: recall@${k} ${percent} % (${from}, ` + `${Math.round(micros)} us per search)`,
    );
  }
  if (body.recall.length === 0) printLine('There are no vector types.');
  return exitCodes.ok;
}

interface RecallBody {
  recall: (Omit<Recall, 'searchMicros'> & { search_micros: number })[];
}

async function recallLocally(config: Config, params: URLSearchParams): Promise<RecallBody> {
  const { program } = loadProgram(programOptions(config));
  if (program === undefined) return fail('SOURCE_INVALID', { what: 'The sources have errors.' });
  if (!hasData(config.dataDir)) failNoData(config.dataDir);
  const log = createLog({ level: 'warn', format: 'text' });
  const database = await openDatabase(databaseOptions(config, program, log));
  try {
    return (await recallBody(database, params)) as RecallBody;
  } finally {
    await database.close({ snapshot: false });
  }
}
