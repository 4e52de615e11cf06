// `trellis check`: prints every diagnostic of a project, and what its schema means for the data that
// are stored: a server that has them open is asked. Changes nothing. Ends with 0, or with 1 when there
// is an error, the data refuse, or `--slow` finds something.
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
} from '../../../engine/index.js';
import type { Config } from '../../config/config.js';
import { hasData } from '../support/data-at-rest.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';
import { askServer, isServed } from '../support/running-server.js';
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

/** Of what a query reads as a whole without need. */
const slowCode = 'W120';

export const check: Command = {
  name: 'check',
  about: 'Prints every fault of the sources, and what the schema means for the stored data.',
  words: '[PROJECT_DIR]',
  flags: {
    ...projectFlags,
    ...keyFlag,
    json: { about: 'Prints for programs.' },
    slow: { about: 'Names, too, what queries read as a whole without need.' },
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
    const asked = isServed(loaded);
    const data =
      program && (await (asked ? servedPreview(loaded, sources) : storedPreview(loaded, program)));
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
      if (data !== undefined) for (const line of dataLines(data, asked)) printLine(line);
      printLine(summary(sources.length, errors, diagnostics.length - found));
    }
    if (errors > 0) {
      printErrorLine('SOURCE_INVALID: the sources have errors. Correct the places named above.');
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
    // `check` ends with 0 or 1 only.
    const { code } = error;
    if (json) printLine(JSON.stringify({ diagnostics: [], error: errorMessage(error.data), code }));
    printErrorLine(`${code}: ${errorMessage(error.data)} ${errorHint(error.data) ?? ''}`.trimEnd());
    return exitCodes.diagnostics;
  }
}

/** The schema tried on the data directory, if there is one that nobody else holds. */
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

/** The same by the server that holds it. */
async function servedPreview(config: Config, sources: readonly Source[]): Promise<DataReport> {
  try {
    const given = sources.map((source) => ({ path: source.path, text: textOf(source) }));
    const { data } = (await askServer(config, 'check', { sources: given })) as CheckReport;
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
