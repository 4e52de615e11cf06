// `trellis check`: prints every diagnostic of a project, and what its schema means for the data that
// are stored. Changes nothing. Ends with 0, or with 1 when there is an error or the data refuse.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Diagnostic,
  type Program,
  type SchemaPreview,
  TrellisError,
  errorMessage,
  openDataDirectory,
  openStorage,
} from '../../engine/index.js';
import type { Config } from '../config/config.js';
import { exitCodes } from '../process/exit-code.js';
import { printErrorLine, printLine } from '../observe/log.js';
import { countErrors, loadProgram, pictureOf, programOptions } from '../project/program.js';

/** What is known of the stored data; `unknown` with the reason in `message`. */
type DataReport = SchemaPreview | { status: 'unknown'; code: string; message: string };

export function checkCommand(config: () => Config, json: boolean): number {
  try {
    const loaded = config();
    const { program, diagnostics, sources } = loadProgram(programOptions(loaded));
    const data = program && previewOf(loaded, program);
    if (json) printLine(printJson(diagnostics, data));
    else for (const diagnostic of diagnostics) printLine(pictureOf(diagnostic, sources));
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
    printErrorLine(`${code}: ${errorMessage(error.data)}`);
    return exitCodes.diagnostics;
  }
}

/** The schema tried on the data directory, if there is one that nobody else holds. */
function previewOf({ dataDir, limits }: Config, program: Program): DataReport | undefined {
  if (!existsSync(join(dataDir, 'MANIFEST.json'))) return undefined;
  try {
    const directory = openDataDirectory(dataDir, { readOnly: true });
    try {
      const storage = openStorage(join(dataDir, 'graph'), { limits, mode: 'attach' });
      const preview = storage.previewSchema(program, Date.now());
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
  const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
  return `${count(files, 'file')}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
