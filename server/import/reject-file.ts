// Refused rows as NDJSON, with their file and line; the file is made when there is one. Counts them
// by reason.
import { appendFileSync } from 'node:fs';
import { type FedRow, errorMessage } from '../../engine/index.js';
import type { ImportSource } from './import-source.js';

/** Reasons that are told; the file has them all. */
const reasonsShown = 10;

interface Reason {
  count: number;
  /** Of the first row. */
  place: string;
  message: string;
}

export class RejectFile {
  readonly #reasons = new Map<string, Reason>();
  #count = 0;

  constructor(
    readonly path: string,
    private readonly source: ImportSource,
  ) {}

  add(rows: readonly FedRow[]): void {
    const lines = rows.map(({ line, error, text }) => {
      const { path: file, line: at } = this.source.placeOf(line);
      const { code } = error;
      const message = errorMessage(error);
      const key = `${file} ${code} ${error.path ?? error.args?.param ?? ''}`;
      const reason = this.#reasons.get(key);
      if (reason) reason.count++;
      else this.#reasons.set(key, { count: 1, place: `${file}:${at}`, message });
      return `${JSON.stringify({ file, line: at, code, message, row: text })}\n`;
    });
    appendFileSync(this.path, lines.join(''), { mode: 0o600 });
    this.#count += rows.length;
  }

  /** How many were refused for what, most frequent first; `all`: how many there were. */
  summary(all: number): string[] {
    const reasons = [...this.#reasons.values()].sort((a, b) => b.count - a.count);
    const shown = reasons.slice(0, reasonsShown);
    const lines = shown.map(({ count, place, message }) => `  ${count} x ${place}: ${message}`);
    const others = all - shown.reduce((sum, { count }) => sum + count, 0);
    if (others > 0) lines.push(`  ${others} others`);
    return lines;
  }
}
