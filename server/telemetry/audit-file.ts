// Writes the audit file: numbered JSON lines, written in batches and rotated by size. Invariant: lines are in
// the order of their numbers, and a gap shows that lines are missing. At most the one line that was cut off
// by a crash is unreadable.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fail, wallMs } from '../../engine/internal.js';

export interface AuditFileOptions {
  path: string;
  rotateBytes: number;
  /** Number of rotated files that are kept. */
  keep: number;
  onError: (error: unknown) => void;
}

/** Maximum bytes that are read to find the last line. */
const tailBytes = 64 * 1024;
const syncMs = 1_000;
/** Maximum number of waiting lines. Further ones are lost, and their numbers are missing. */
const waitingMax = 10_000;

export class AuditFile {
  errors = 0;
  #fd = -1;
  #size = 0;
  #last: number;
  #waiting: string[] = [];
  #isDue = false;
  #sync: NodeJS.Timeout | undefined;
  /** Whether the last write did not end with a line feed. */
  #isTorn = false;

  /** Fails CONFIG_INVALID if the file cannot be opened. */
  constructor(private readonly options: AuditFileOptions) {
    const { path } = options;
    try {
      mkdirSync(dirname(path), { recursive: true });
      this.#open();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      fail('CONFIG_INVALID', { what: `audit.file: ${path} cannot be written (${code})` });
    }
    this.#last = this.#lastNumber();
  }

  #open(): void {
    this.#fd = openSync(this.options.path, 'a+', 0o600);
    this.#size = fstatSync(this.#fd).size;
  }

  /**
   * Returns the number of the last readable line, in this file or the one before; 0 if there is none.
   */
  #lastNumber(): number {
    const number = this.#numberIn(this.#fd, this.#size);
    if (number !== undefined) return number;
    const before = `${this.options.path}.1`;
    if (!existsSync(before)) return 0;
    const fd = openSync(before, 'r');
    try {
      return this.#numberIn(fd, fstatSync(fd).size) ?? 0;
    } finally {
      closeSync(fd);
    }
  }

  #numberIn(fd: number, size: number): number | undefined {
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    const text = tail.toString();
    if (fd === this.#fd) this.#isTorn = text !== '' && !text.endsWith('\n');
    for (const line of text.split('\n').reverse()) {
      const number = /^\{"n":(\d+),.*\}$/.exec(line)?.[1];
      if (number !== undefined) return Number(number);
    }
    return undefined;
  }

  add(line: object): void {
    const n = ++this.#last;
    if (this.#waiting.length >= waitingMax) {
      this.errors++;
      return;
    }
    const t = new Date(wallMs()).toISOString();
    this.#waiting.push(`${JSON.stringify({ n, t, ...line })}\n`);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#write());
  }

  #write(): void {
    this.#isDue = false;
    const lines = this.#waiting;
    this.#waiting = [];
    if (lines.length === 0) return;
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${lines.join('')}`);
    try {
      if (this.#size > 0 && this.#size + bytes.length > this.options.rotateBytes) this.#rotate();
      const written = writeSync(this.#fd, bytes);
      this.#size += written;
      this.#isTorn = written > 0 ? bytes[written - 1] !== 10 : this.#isTorn;
      if (written < bytes.length) this.errors += lines.length;
      this.#sync ??= setTimeout(() => this.#syncNow(), syncMs).unref();
    } catch (error) {
      this.errors += lines.length;
      this.options.onError(error);
    }
  }

  #rotate(): void {
    const { path, keep } = this.options;
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    for (let at = keep - 1; at >= 1; at--) {
      if (existsSync(`${path}.${at}`)) renameSync(`${path}.${at}`, `${path}.${at + 1}`);
    }
    if (keep > 0) renameSync(path, `${path}.1`);
    else rmSync(path);
    this.#open();
  }

  #syncNow(): void {
    this.#sync = undefined;
    fsync(this.#fd, (error) => {
      if (error !== null && this.#fd >= 0) this.options.onError(error);
    });
  }

  close(): void {
    this.#write();
    clearTimeout(this.#sync);
    const fd = this.#fd;
    this.#fd = -1;
    try {
      fsyncSync(fd);
      closeSync(fd);
    } catch (error) {
      this.options.onError(error);
    }
  }
}
