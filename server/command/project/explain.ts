// `trellis explain` prints the plan of one query of a project.
import { join } from 'node:path';
import {
  type Explanation,
  type Program,
  type Query,
  TrellisError,
  defaultLimits,
  explain,
  fail,
  openDataDirectory,
  openStorage,
  printExplanation,
  statisticsOf,
} from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { hasData } from '../support/data-at-rest.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';
import { refuseFolder } from '../../project/new-project.js';
import { requireProgram } from '../../project/compiled-project.js';
import { noQuery } from '../../repl/resolve-query.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';

export const explainQuery: Command = {
  name: 'explain',
  about: 'Show the plan of a query: what it reads, in which order, and by which index.',
  words: '[PROJECT_DIR] QUERY',
  examples: ['trellis explain booksOf'],
  flags: { ...projectFlags, json: { about: 'Print JSON.' } },
  run: (line) => {
    const query = line.words.at(-1)!;
    if (line.words.length === 1) refuseFolder(explainQuery, query);
    const project = line.words.length > 1 ? line.words[0] : undefined;
    return printPlan(configFromArguments(line, project), query, line.switches.has('json'));
  },
};

/** The exit code is 0, 65 or 78. */
function printPlan(config: Config, name: string, json: boolean): number {
  const { program } = requireProgram(config);
  const query = program.queries.find((each) => each.name === name) ?? unknown(program, name);
  const { explanation, note } = explained(query, config.dataDir);
  if (json) printLine(JSON.stringify(explanation, null, 2));
  else printLine(printExplanation(explanation));
  if (note !== undefined) printErrorLine(`No estimates: ${note}`);
  return exitCodes.ok;
}

function unknown(program: Program, name: string): never {
  const { what, hint } = noQuery(program, name);
  return fail('CONFIG_INVALID', { what }, hint === '' ? {} : { hint });
}

/** Adds row counts if the data directory can be read; a running server has it locked. */
function explained(query: Query, dataDir: string): { explanation: Explanation; note?: string } {
  const { plan } = query;
  if (!hasData(dataDir)) return { explanation: explain(plan) };
  try {
    const directory = openDataDirectory(dataDir, { readOnly: true });
    try {
      const path = join(dataDir, 'graph');
      const storage = openStorage(path, { limits: defaultLimits, mode: 'attach' });
      const explanation = explain(plan, statisticsOf(storage.reader()));
      storage.close();
      return { explanation };
    } finally {
      directory.close({ clean: false });
    }
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    const note = `${error.message} Ask the server: POST /${plan.name}?explain=1.`;
    return { explanation: explain(plan), note };
  }
}
