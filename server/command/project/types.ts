// `trellis types`: the schema and the queries of a project as one TypeScript module (client.md 4).
// Opens no data and no socket.
import { join, resolve } from 'node:path';
import { countUnknown, errorMessage, excerpt, fail, TrellisError } from '../../../engine/index.js';
import type { Config } from '../../config/config.js';
import { printErrorLine, printLine } from '../../observe/log.js';
import { exitCodes } from '../../process/exit-code.js';
import { packageVersion } from '../../process/program-file.js';
import { watchSources } from '../../process/watch.js';
import { requireProgram } from '../../project/compiled-project.js';
import { configOf } from '../../project/line-config.js';
import { typesFile, typesText, writeTypesFile } from '../../project/types-file.js';
import { type Command, type CommandLine, projectFlags } from '../../terminal/command.js';
import { counted, shownPath } from '../../terminal/wording.js';

const int64 = ['number', 'bigint', 'string'] as const;
const dates = ['string', 'date'] as const;

export const types: Command = {
  name: 'types',
  about: 'Writes the types of schema and queries as TypeScript, for trellisdb/client and open().',
  words: '[PROJECT_DIR]',
  flags: {
    ...projectFlags,
    out: {
      value: 'FILE',
      about: 'Where to; types.out or PROJECT/trellis.gen.ts unless said, - is the terminal.',
    },
    int64: { value: 'number|bigint|string', about: 'What 64-bit integers of answers become.' },
    dates: { value: 'string|date', about: 'What dates of answers become.' },
    watch: { about: 'Goes on, and writes again whenever the sources change.' },
    check: { about: 'Ends with 1 when the file is not what would be written.' },
  },
  run: (line) => writeTypes(line),
};

async function writeTypes(line: CommandLine): Promise<number> {
  const config = configOf(line, line.words[0]);
  const types = {
    int64: chosen(line, 'int64', int64) ?? config.types.int64,
    dates: chosen(line, 'dates', dates) ?? config.types.dates,
  };
  const given = line.flags.get('out');
  const made = (): string => textFor(config, types);
  if (given === '-') {
    printLine(made().trimEnd());
    return exitCodes.ok;
  }
  // A flag is about the working directory, the configuration about the project.
  const out = given === undefined ? config.types.out : resolve(given);
  const file = typesFile(config, out, made());
  if (line.switches.has('check')) {
    const told = `${shownPath(file.path)} is not up to date: run \`trellis types\`.`;
    if (!file.isCurrent) printErrorLine(told);
    return file.isCurrent ? exitCodes.ok : exitCodes.diagnostics;
  }
  writeTypesFile(file);
  printLine(shownPath(file.path));
  if (line.switches.has('watch')) {
    await watched(config, () => {
      writeTypesFile(typesFile(config, out, made()));
      printLine(shownPath(file.path));
    });
  }
  return exitCodes.ok;
}

function textFor(config: Config, types: Pick<Config['types'], 'int64' | 'dates'>): string {
  const { program, sources } = requireProgram(config);
  for (const { name, output } of program.queries) {
    const { unknown } = countUnknown(output);
    if (unknown > 0) printErrorLine(`${name}: ${counted(unknown, 'member')} of unknown type.`);
  }
  return typesText(program, sources.length, types, packageVersion());
}

/** Until the process is told to end; sources with faults are told, and waited for. */
async function watched({ projectDir, queriesDir }: Config, write: () => void): Promise<void> {
  const watch = watchSources([projectDir, join(projectDir, queriesDir)], () => {
    try {
      write();
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      printErrorLine(errorMessage(error.data));
    }
  });
  // A watch alone does not keep every system's process alive.
  const alive = setInterval(() => undefined, 60_000);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  clearInterval(alive);
  watch.close();
}

function chosen<T extends string>(
  { flags }: CommandLine,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const given = flags.get(name);
  if (given === undefined) return undefined;
  const found = allowed.find((each) => each === given);
  const what = `--${name} is one of ${allowed.join(', ')}, not ${excerpt(given)}.`;
  return found ?? fail('CONFIG_INVALID', { what });
}
