// `trellis query` runs a stored query, or one written on the command line. It compiles the query first, to
// show errors with their position and to read arguments by their types.
import { existsSync, statSync } from 'node:fs';
import { fail, type Program, readStandardInput, TrellisError } from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { exitCodes, exitCodeOf, reportFailure } from '../../lifecycle/exit-code.js';
import { refuseFolder } from '../../project/new-project.js';
import { requireProgram } from '../../project/compiled-project.js';
import { configFromArguments } from '../support/cli-config.js';
import type { ResultFormat } from '../../repl/result-format.js';
import { argumentsText, isArgument, splitWords } from '../../repl/parse-arguments.js';
import { openQueryRunner } from '../../repl/query-runner.js';
import { show } from '../../repl/run-and-print.js';
import { type ResolvedQuery, resolveQuery } from '../../repl/resolve-query.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../../terminal/command.js';

export const query: Command = {
  name: 'query',
  about: 'Run a stored query, or one written on the command line.',
  words: '[PROJECT_DIR] QUERY [NAME=VALUE...]',
  examples: [
    'trellis query people',
    'trellis query booksOf name="Mary Shelley"',
    "trellis query 'N<Person>::COUNT'",
  ],
  flags: {
    ...projectFlags,
    ...keyFlag,
    params: { value: 'JSON', about: 'Arguments as one JSON object, instead of words.' },
    write: { about: 'Allow a query that writes.' },
    json: { about: 'Print the reply as JSON.' },
    ndjson: { about: 'Print one line of JSON for each row.' },
    csv: { about: 'Print CSV.' },
    explain: { about: 'Show the plan without running the query.' },
    profile: { about: 'Show the rows and time of each step after the result.' },
  },
  run: runQuery,
};

/** Words of the command line: the query and its arguments. */
interface CallWords {
  project?: string;
  text: string;
  words: string[];
}

async function runQuery(line: CommandLine): Promise<number> {
  try {
    const call = wordsOf(line.words);
    const config = configFromArguments(line, call.project);
    const { program } = requireProgram(config);
    const { text, words } = callInOneWord(call) ?? call;
    const resolved = resolveQuery(text, program, config.limits);
    if (resolved === undefined) return exitCodes.source;
    return await answer(line, config, program, { ...resolved, words });
  } catch (error) {
    // Errors that HTTP reports as 4xx are not internal errors here.
    if (!(error instanceof TrellisError) || error.code === 'INTERNAL') throw error;
    const code = exitCodeOf(error.code);
    reportFailure(error);
    return code === exitCodes.internal ? exitCodes.diagnostics : code;
  }
}

/** Splits the words: a folder as the first word is the project, and `-` reads the query from stdin. */
function wordsOf(texts: readonly string[]): CallWords {
  const [first, ...rest] = texts as [string, ...string[]];
  if (rest.length === 0) refuseFolder(query, first);
  const hasProject =
    rest[0] !== undefined &&
    !isArgument(rest[0]) &&
    existsSync(first) &&
    statSync(first).isDirectory();
  const [text, ...words] = (hasProject ? rest : [first, ...rest]) as [string, ...string[]];
  const read = text === '-' ? readStandardInput().toString() : text;
  return { ...(hasProject && { project: first }), text: read, words };
}

/**
 * Returns the name and the arguments of a call that is one word, because the user has quoted all of it:
 * `'booksOf name="Mary Shelley"'`. Returns undefined for any other text.
 */
function callInOneWord(call: CallWords): CallWords | undefined {
  const [name = '', ...words] = splitWords(call.text) ?? [];
  const isCall = /^\w+$/.test(name) && words.length > 0 && words.every(isArgument);
  return isCall && call.words.length === 0 ? { ...call, text: name, words } : undefined;
}

async function answer(
  line: CommandLine,
  config: Config,
  program: Program,
  { query, source, words }: ResolvedQuery & { words: string[] },
): Promise<number> {
  const { switches, flags } = line;
  const write = query.plan.writes;
  if (write && !switches.has('write') && !switches.has('explain')) {
    fail('CONFIG_INVALID', { what: 'This query writes data.' }, { hint: 'Add --write to run it.' });
  }
  const texts = flags.get('params');
  if (texts !== undefined && words.length > 0) {
    fail('CONFIG_INVALID', { what: 'Give arguments as words or with --params, not both.' });
  }
  const parameters = texts ?? argumentsText(query, words);
  const mode = (['explain', 'profile'] as const).find((each) => switches.has(each));
  const runner = await openQueryRunner(config, program, write && mode !== 'explain');
  try {
    const question = {
      ...(source === undefined ? { name: query.name } : { source }),
      parameters,
      write,
      ...(mode && { mode }),
    };
    await show(runner, question, query.plan, formOf(switches));
  } finally {
    await runner.close();
  }
  return exitCodes.ok;
}

function formOf(switches: ReadonlySet<string>): ResultFormat {
  const forms = (['json', 'ndjson', 'csv'] as const).filter((each) => switches.has(each));
  if (forms.length > 1)
    fail('CONFIG_INVALID', { what: `--${forms.join(' and --')} cannot be used together.` });
  return forms[0] ?? 'table';
}
