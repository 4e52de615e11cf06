// Writes refused rows as NDJSON, with their file and line, and counts them by reason. The file is created for
// the first row and has the rows of one run. Invariant: only a file of this form is overwritten.
import { appendFileSync, closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { type FedRow, errorMessage, fail } from '../../engine/internal.js';
import { shownPath } from '../terminal/format.js';
import type { ImportSource } from './import-source.js';

/** Number of reasons that are printed. The file has all reasons. */
const reasonsShown = 10;

interface Reason {
  count: number;
  /** Position of the first row. */
  location: string;
  message: string;
}

/** Beginning of every line of such a file. */
const mark = '{"file":';

export class RejectFile {
  /** Whether the file is of an earlier run. The first rejected row of this run replaces it. */
  #isOld: boolean;
  readonly #reasons = new Map<string, Reason>();
  #count = 0;

  constructor(
    readonly path: string,
    private readonly source: ImportSource,
  ) {
    const first = firstBytes(path);
    if (first !== '' && first !== mark) {
      const what = `${shownPath(path)} is there, and no file of refused rows.`;
      fail('CONFIG_INVALID', { what }, { hint: 'Name another one with --rejects.' });
    }
    this.#isOld = first !== '';
  }

  /** Ends the run. Removes the file of an earlier run: its rows are no longer rejected. */
  end(): void {
    if (this.#isOld) rmSync(this.path);
  }

  add(rows: readonly FedRow[]): void {
    const lines = rows.map(({ line, error, text }) => {
      const { path: file, line: at } = this.source.locationOf(line);
      const { code } = error;
      const message = errorMessage(error);
      const key = `${file} ${code} ${error.path ?? error.args?.param ?? ''}`;
      const reason = this.#reasons.get(key);
      if (reason) reason.count++;
      else this.#reasons.set(key, { count: 1, location: `${file}:${at}`, message });
      return `${JSON.stringify({ file, line: at, code, message, row: rowOf(text) })}\n`;
    });
    const write = this.#isOld ? writeFileSync : appendFileSync;
    this.#isOld = false;
    write(this.path, lines.join(''), { mode: 0o600 });
    this.#count += rows.length;
  }

  /** Returns the number of refused rows by reason, most frequent first; `all` is the total. */
  summary(all: number): string[] {
    const reasons = [...this.#reasons.values()].sort((a, b) => b.count - a.count);
    const shown = reasons.slice(0, reasonsShown);
    const lines = shown.map(
      ({ count, location, message }) => `  ${count} x ${location}: ${message}`,
    );
    const others = all - shown.reduce((sum, { count }) => sum + count, 0);
    if (others > 0) lines.push(`  ${others} others`);
    return lines;
  }
}

/** Returns the text of a malformed record as it is in its file. */
function rowOf(text: string): string {
  if (!text.startsWith('{"refused":')) return text;
  try {
    const { refused } = JSON.parse(text) as { refused: { record?: string } };
    return refused.record ?? text;
  } catch {
    return text;
  }
}

/** Returns '' for an empty or missing file. */
function firstBytes(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  try {
    const bytes = Buffer.alloc(mark.length);
    return bytes.subarray(0, readSync(file, bytes, 0, mark.length, 0)).toString();
  } finally {
    closeSync(file);
  }
}
