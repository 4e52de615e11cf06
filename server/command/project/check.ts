// `trellis check`: prints every diagnostic of a project, and what its schema means for the data that
// are stored. Changes nothing. Ends with 0, or with 1 when there is an error or the data refuse.
import { join } from 'node:path';
import {
  type Diagnostic,
  type Program,
  type SchemaPreview,
  TrellisError,
  errorHint,
  errorMessage,
  openDataDirectory,
  openStorage,
  wallMs,
} from '../../../engine/index.js';
import type { Config } from '../../config/config.js';
import { hasData } from '../../process/data-at-rest.js';
import { exitCodes } from '../../process/exit-code.js';
import { printErrorLine, printLine } from '../../observe/log.js';
import { configOf } from '../../project/line-config.js';
import { countErrors, loadProgram, pictureOf, programOptions } from '../../project/program.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { counted } from '../../terminal/wording.js';

/** What is known of the stored data; `unknown` with the reason in `message`. */
type DataReport = SchemaPreview | { status: 'unknown'; code: string; message: string };

export const check: Command = {
  name: 'check',
  about: 'Prints every fault of the sources, and what the schema means for the stored data.',
  words: '[PROJECT_DIR]',
  flags: { ...projectFlags, json: { about: 'Prints for programs.' } },
  run: (line) => checkProject(() => configOf(line, line.words[0]), line.switches.has('json')),
};

function checkProject(config: () => Config, json: boolean): number {
  try {
    const loaded = config();
    const compiled = loadProgram(programOptions(loaded));
    const { program, diagnostics, sources } = compiled;
    const data = program && previewOf(loaded, program);
    if (json) printLine(printJson(diagnostics, data));
    else
      for (const diagnostic of diagnostics)
        printLine(pictureOf(diagnostic, compiled, process.stdout));
    const errors = countErrors(diagnostics);
    if (!json) {
      if (data !== undefined) for (const line of dataLines(data)) printLine(line);
      printLine(summary(sources.length, errors, diagnostics.length - errors));
    }
    if (errors > 0) {
      printErrorLine('SOURCE_INVALID: the sources have errors. Correct the places named above.');
    } else if (data?.status === 'refused') {
      printErrorLine(`SCHEMA_INCOMPATIBLE: ${refusalText(data)}`);
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
function previewOf({ dataDir, limits }: Config, program: Program): DataReport | undefined {
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
    if (!(error instanceof TrellisError)) throw error;
    return { status: 'unknown', code: error.code, message: errorMessage(error.data) };
  }
}

function dataLines(data: DataReport): string[] {
  if (data.status === 'unknown') return [`data: not compared. ${data.message}`];
  const versions =
    data.from === data.to ? `schema::${data.to}` : `schema::${data.from} => schema::${data.to}`;
  const heads = {
    same: `data: up to date (${versions})`,
    compatible: `data: compatible (${versions}); the next start takes over`,
    migrates: `data: the next start migrates (${versions}), all or nothing`,
    refused: `data: refused (${versions}); a server would not start, nothing would change`,
  };
  const lines = [heads[data.status], ...data.changes.map((change) => `  ${change}`)];
  return data.status === 'refused' ? [...lines, `  refused: ${refusalText(data)}`] : lines;
}

function refusalText({ refusal }: SchemaPreview): string {
  return [refusal!.message, ...(refusal!.hint === undefined ? [] : [refusal!.hint])].join(' ');
}

function printJson(diagnostics: readonly Diagnostic[], data: DataReport | undefined): string {
  return JSON.stringify({ diagnostics, ...(data && { data }) }, null, 2);
}

function summary(files: number, errors: number, warnings: number): string {
  const found = `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`;
  return `${counted(files, 'file')}: ${found}`;
}
