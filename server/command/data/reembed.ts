// `trellis reembed` makes the vectors of a type again, with the configured model, from a property. It calls the running
// server, which continues to serve, or opens the data directory. Run again after a failure, it continues.
import {
  type Database,
  type ReembedStatus,
  TrellisError,
  fail,
  openDatabase,
} from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { databaseOptions } from '../../config/database-options.js';
import { reembedBody } from '../../handlers/reembed-handler.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { loadProgram, programOptions } from '../../project/program.js';
import { createLog, printLine } from '../../telemetry/log.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../../terminal/command.js';
import { counted } from '../../terminal/format.js';
import { ProgressBar } from '../../terminal/progress-bar.js';
import { configFromArguments } from '../support/cli-config.js';
import { failNoData, hasData } from '../support/data-at-rest.js';
import { callServer, isServed } from '../support/running-server.js';

export const reembed: Command = {
  name: 'reembed',
  about: 'Make the vectors of a type again with the configured model.',
  words: 'TYPE',
  flags: {
    ...projectFlags,
    ...keyFlag,
    from: { value: 'PROPERTY', about: 'Property with the texts.' },
    keep: { about: 'Keep the vectors: the former model and the configured one agree.' },
  },
  run: reembedCommand,
};

/** Milliseconds between two polls. */
const pollMs = 200;

type Send = (parameters: URLSearchParams) => Promise<unknown>;

async function reembedCommand(line: CommandLine): Promise<number> {
  const [type] = line.words;
  const from = line.flags.get('from');
  const keep = line.switches.has('keep');
  if (type === undefined || (from === undefined) !== keep) {
    const hint = 'Write `trellis reembed TYPE --from PROPERTY`, or `trellis reembed TYPE --keep`.';
    fail(
      'CONFIG_INVALID',
      { what: 'trellis reembed needs a type, and --from or --keep.' },
      { hint },
    );
  }
  const config = configFromArguments(line);
  const parameters = new URLSearchParams({ type, ...(keep ? { keep: 'true' } : { from: from! }) });
  if (isServed(config)) {
    await follow((sent) => callServer(config, `reembed?${sent}`, {}), parameters);
    return exitCodes.ok;
  }
  await withDatabase(config, (database) =>
    follow(async (sent) => reembedBody(database, sent), parameters),
  );
  return exitCodes.ok;
}

/** Polls until the job has ended, and shows its progress. Fails with the error of the job. */
async function follow(send: Send, parameters: URLSearchParams): Promise<void> {
  let bar: ProgressBar | undefined;
  try {
    for (let isFirst = true; ; isFirst = false) {
      if (!isFirst) parameters.set('status', 'true');
      const answer = (await send(parameters)) as ReembedStatus | { model: string };
      if ('model' in answer) {
        return printLine(`${parameters.get('type')}: the vectors are those of ${answer.model}.`);
      }
      const { type, from, state, done, total, error } = answer;
      if (error !== undefined) throw new TrellisError(error);
      if (state === 'done') {
        bar?.end();
        return printLine(`${type}: ${counted(total, 'vector')} made from \`${from}\`.`);
      }
      if (total > 0) bar ??= new ProgressBar(process.stderr, total);
      bar?.show(done, done);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  } finally {
    bar?.end();
  }
}

async function withDatabase(
  config: Config,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const { program } = loadProgram(programOptions(config));
  if (program === undefined) return fail('SOURCE_INVALID', { what: 'The sources have errors.' });
  if (!hasData(config.dataDir)) failNoData(config.dataDir);
  const log = createLog({ level: 'warn', format: 'text' });
  const database = await openDatabase(databaseOptions(config, program, log));
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
