// `trellis types` writes the schema and the queries of a project as a TypeScript module (client.md 4), or as
// a Python module (7). It opens no data and no connection.
import { join, resolve } from 'node:path';
import {
  countUnknown,
  errorMessage,
  excerpt,
  fail,
  type Program,
  printPython,
  TrellisError,
} from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { packageVersion } from '../../lifecycle/program-file.js';
import { watchSources } from '../../lifecycle/file-watcher.js';
import { requireProgram } from '../../project/compiled-project.js';
import { configFromArguments } from '../support/cli-config.js';
import {
  against,
  configuredTypesTarget,
  type TypesFiles,
  typesFiles,
  typesText,
  writeTypesFiles,
} from '../../project/types-file.js';
import { type Command, type CommandLine, projectFlags } from '../../terminal/command.js';
import { counted, shownPath } from '../../terminal/format.js';

const int64 = ['number', 'bigint', 'string'] as const;
const dates = ['string', 'date'] as const;

export const types: Command = {
  name: 'types',
  about: 'Generate TypeScript types (for trellisdb/client and open()) or a Python client.',
  words: '[PROJECT_DIR]',
  flags: {
    ...projectFlags,
    out: {
      value: 'FILE',
      about: 'Output file, - for stdout (default: types.out, or PROJECT/trellis.gen.ts).',
    },
    int64: {
      value: 'number|bigint|string',
      about: 'Type of 64-bit integers in replies (default: types.int64).',
    },
    dates: { value: 'string|date', about: 'Type of dates in replies (default: types.dates).' },
    split: { about: 'Write one file for each .hx file, in a folder next to the module.' },
    python: { value: 'FILE', about: 'Write a Python module with a client instead.' },
    watch: { about: 'Keep running, and write again when the sources change.' },
    check: { about: 'Change nothing; exit with 1 if the file is out of date.' },
    force: { about: 'Also overwrite a file that this command did not generate.' },
  },
  run: (line) => writeTypes(line),
};

async function writeTypes(line: CommandLine): Promise<number> {
  const config = configFromArguments(line, line.words[0]);
  const wish = wishOf(line, config);
  if ('prints' in wish) {
    printLine(wish.prints().trimEnd());
    return exitCodes.ok;
  }
  const { make } = wish;
  const made = make();
  const path = shownPath(made.files[0].path);
  if (line.switches.has('check')) {
    const message = `${path} is not up to date: run \`trellis types\`.`;
    if (!made.isCurrent) printErrorLine(message);
    return made.isCurrent ? exitCodes.ok : exitCodes.diagnostics;
  }
  const force = line.switches.has('force');
  writeTypesFiles(made, force);
  printLine(path);
  if (line.switches.has('watch')) {
    await watched(config, () => {
      writeTypesFiles(make(), force);
      printLine(path);
    });
  }
  return exitCodes.ok;
}

/** The output of one run: a text for the terminal, or files. */
type Wish = { prints: () => string } | { make: () => TypesFiles };

function wishOf(line: CommandLine, config: Config): Wish {
  const python = line.flags.get('python');
  if (python !== undefined) return pythonWish(line, config, python);
  const types = {
    int64: chosen(line, 'int64', int64) ?? config.types.int64,
    dates: chosen(line, 'dates', dates) ?? config.types.dates,
    split: line.switches.has('split') || config.types.split,
  };
  const out = line.flags.get('out');
  const version = packageVersion();
  if (out === '-') {
    if (line.switches.has('split')) fail('CONFIG_INVALID', { what: '--split needs a file.' });
    return {
      prints: () => {
        const { program, files } = read(config);
        return typesText(program, files, types, version);
      },
    };
  }
  // A path in a flag is relative to the working directory, a path in the configuration to the project.
  const target =
    out === undefined ? configuredTypesTarget(config) : { out: resolve(out), isExplicit: true };
  return { make: () => typesFiles(config, target, types, { ...read(config), version }) };
}

function pythonWish({ flags, switches }: CommandLine, config: Config, file: string): Wish {
  const other = ['out', 'int64', 'dates', 'split'].find((name) => {
    return flags.has(name) || switches.has(name);
  });
  if (other !== undefined) {
    fail('CONFIG_INVALID', { what: `--${other} is about TypeScript, --python about Python.` });
  }
  const prints = (): string => {
    const { program, files } = read(config);
    return printPython(program, packageVersion(), files);
  };
  if (file === '-') return { prints };
  return { make: () => against([{ path: resolve(file), text: prints() }], undefined) };
}

function read(config: Config): { program: Program; files: number } {
  const { program, sources } = requireProgram(config);
  for (const { name, output } of program.queries) {
    const { unknown } = countUnknown(output);
    if (unknown > 0) printErrorLine(`${name}: ${counted(unknown, 'member')} of unknown type.`);
  }
  return { program, files: sources.length };
}

/**
 * Writes after each change of the sources until the process is stopped. Errors in the sources are printed.
 */
async function watched({ projectDir, queriesDir }: Config, write: () => void): Promise<void> {
  const watch = watchSources([projectDir, join(projectDir, queriesDir)], () => {
    try {
      write();
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      printErrorLine(errorMessage(error.data));
    }
  });
  // On some systems, a file watch does not keep the process alive.
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
  const value = flags.get(name);
  if (value === undefined) return undefined;
  const found = allowed.find((each) => each === value);
  const what = `--${name} is one of ${allowed.join(', ')}, not ${excerpt(value)}.`;
  return found ?? fail('CONFIG_INVALID', { what });
}
