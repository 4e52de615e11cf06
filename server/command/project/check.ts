// `trellis check` prints the diagnostics of a project and what its schema would change in the stored data. It
// asks the server that has the data open, if there is one. It changes nothing. The exit code is 1 for an
// error in the sources or the seed, and for data that do not fit the schema. It is also 1 if `--slow` finds a
// full scan; else 0.
import { join } from 'node:path';
import {
  type Diagnostic,
  type Program,
  type Source,
  TrellisError,
  errorHint,
  errorMessage,
  openDataDirectory,
  openStorage,
  wallMs,
} from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { hasData } from '../support/data-at-rest.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';
import { callServer, isServed } from '../support/running-server.js';
import {
  type CheckReport,
  type DataReport,
  dataLines,
  refusalText,
} from '../../project/check-report.js';
import { configFromArguments } from '../support/cli-config.js';
import {
  countErrors,
  loadProgram,
  codeFrameOf,
  programOptions,
  textOf,
} from '../../project/program.js';
import { type SeedError, checkSeed } from '../../project/seed.js';
import { type Command, keyFlag, projectFlags } from '../../terminal/command.js';
import { counted } from '../../terminal/format.js';

/** Code of the warning about a full scan that an index would avoid. */
const slowCode = 'W120';

export const check: Command = {
  name: 'check',
  about: 'Check the source files, and show what the schema would change in the stored data.',
  words: '[PROJECT_DIR]',
  flags: {
    ...projectFlags,
    ...keyFlag,
    json: { about: 'Print JSON.' },
    slow: { about: 'Also report queries that scan a whole type without an index.' },
  },
  run: (line) => {
    const { switches } = line;
    return checkProject(() => configFromArguments(line, line.words[0]), {
      json: switches.has('json'),
      slow: switches.has('slow'),
    });
  },
};

async function checkProject(
  config: () => Config,
  { json, slow }: { json: boolean; slow: boolean },
): Promise<number> {
  try {
    const loaded = config();
    const compiled = loadProgram(programOptions(loaded), slow);
    const { program, diagnostics, sources } = compiled;
    const isRunning = isServed(loaded);
    const data =
      program &&
      (await (isRunning ? servedPreview(loaded, sources) : storedPreview(loaded, program)));
    const strict = loaded.server.strict_members;
    const seed = program === undefined ? [] : checkSeed(loaded.projectDir, program, { strict });
    if (json) printLine(printJson(diagnostics, seed, data));
    else {
      for (const diagnostic of diagnostics)
        printLine(codeFrameOf(diagnostic, compiled, process.stdout));
      for (const { file, line, message } of seed) printLine(`${file}:${line}: ${message}`);
    }
    const found = countErrors(diagnostics);
    const errors = found + seed.length;
    if (!json) {
      if (data !== undefined) for (const line of dataLines(data, isRunning)) printLine(line);
      printLine(summary(sources.length, errors, diagnostics.length - found));
    }
    if (errors > 0) {
      printErrorLine('SOURCE_INVALID: the sources have errors. Correct the errors above.');
    } else if (data?.status === 'refused') {
      printErrorLine(`SCHEMA_INCOMPATIBLE: ${refusalText(data)}`);
    } else if (diagnostics.some(({ code }) => code === slowCode)) {
      printErrorLine(
        `${slowCode}: queries read more than they need. Declare or write what is named above.`,
      );
    } else return exitCodes.ok;
    return exitCodes.diagnostics;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    // The exit code of `check` is 0 or 1 only.
    const { code } = error;
    if (json) printLine(JSON.stringify({ diagnostics: [], error: errorMessage(error.data), code }));
    printErrorLine(`${code}: ${errorMessage(error.data)} ${errorHint(error.data) ?? ''}`.trimEnd());
    return exitCodes.diagnostics;
  }
}

/** Previews the schema on the data directory. Returns undefined if there is no data. */
function storedPreview({ dataDir, limits }: Config, program: Program): DataReport | undefined {
  if (!hasData(dataDir)) return undefined;
  try {
    const directory = openDataDirectory(dataDir, { readOnly: true });
    try {
      const storage = openStorage(join(dataDir, 'graph'), { limits, mode: 'attach' });
      const preview = storage.previewSchema(program, wallMs());
      storage.close();
      return preview;
    } finally {
      directory.close({ clean: false });
    }
  } catch (error) {
    return unknown(error);
  }
}

/** Lets the running server preview the schema. */
async function servedPreview(config: Config, sources: readonly Source[]): Promise<DataReport> {
  try {
    const texts = sources.map((source) => ({ path: source.path, text: textOf(source) }));
    const { data } = (await callServer(config, 'check', { sources: texts })) as CheckReport;
    const message = 'The server, which is configured differently, finds errors in the sources.';
    return data ?? { status: 'unknown', code: 'SOURCE_INVALID', message };
  } catch (error) {
    return unknown(error);
  }
}

function unknown(error: unknown): DataReport {
  if (!(error instanceof TrellisError)) throw error;
  const message = [errorMessage(error.data), errorHint(error.data) ?? ''].join(' ').trimEnd();
  return { status: 'unknown', code: error.code, message };
}

function printJson(
  diagnostics: readonly Diagnostic[],
  seed: readonly SeedError[],
  data: DataReport | undefined,
): string {
  const report = { diagnostics, ...(seed.length > 0 && { seed }), ...(data && { data }) };
  return JSON.stringify(report, null, 2);
}

function summary(files: number, errors: number, warnings: number): string {
  const found = `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`;
  return `${counted(files, 'file')}: ${found}`;
}
