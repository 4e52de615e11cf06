// Prints a line for each request during development: up to 20 a second, then the number of the others.
// Requests of the explorer and of probes are printed only if they fail.
import type { AnsweredCall } from '../pipeline/request-answerer.js';
import { counted } from '../terminal/format.js';

const perSecond = 20;
/** Paths that pages, probes and metrics collectors request repeatedly. */
const ofMachines = /^\/(_|metrics$|livez$|healthz$|readyz$|slowlog$)/;

export class RequestLines {
  #shown = 0;
  #more = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly print: (line: string, isRefused: boolean) => void) {}

  add({ method, path, status, code, ms, rows }: AnsweredCall): void {
    if (code === undefined && (method === 'GET' || ofMachines.test(path))) return;
    this.#timer ??= setTimeout(() => this.#endSecond(), 1_000).unref();
    if (this.#shown === perSecond) {
      this.#more++;
      return;
    }
    this.#shown++;
    const found = code === undefined && rows !== undefined ? [counted(rows, 'row')] : [];
    const parts = [method, path, status, ...(code ? [code] : []), `${ms.toFixed(1)} ms`, ...found];
    this.print(parts.join(' '), code !== undefined);
  }

  #endSecond(): void {
    this.#timer = undefined;
    if (this.#more > 0) this.print(`${counted(this.#more, 'more request')} in that second`, false);
    this.#shown = 0;
    this.#more = 0;
  }
}
