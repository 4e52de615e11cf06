// The files of `trellis import` as one stream of NDJSON, and the way back from a line of the stream
// to its file.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { type ElementType, fail } from '../../engine/index.js';
import { CsvReader } from './csv.js';
import type { ReadDate } from './csv-date.js';

const blockBytes = 4 * 1024 * 1024;

export interface ImportFile {
  path: string;
  bytes: number;
  /** What each record of a CSV file is; absent for NDJSON. */
  type?: ElementType;
}

/** Finds the files; fails CONFIG_INVALID. */
export function findFiles(
  paths: readonly string[],
  typeOf: (path: string) => ElementType,
): ImportFile[] {
  return paths.map((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) fail('CONFIG_INVALID', { what: `There is no file ${path}.` });
    const isCsv = /\.csv$/i.test(path);
    return { path, bytes: found.size, ...(isCsv && { type: typeOf(path) }) };
  });
}

/** The name under which a load of these files goes on after it was cut short. */
export function nameOf(files: readonly ImportFile[]): string {
  const hash = createHash('sha256');
  for (const { path, bytes } of files) {
    hash.update(`${realpathSync(path)}\n${bytes}\n${statSync(path).mtimeMs}\n`);
  }
  return `import ${hash.digest('hex').slice(0, 32)}`;
}

export class ImportSource {
  /** Bytes read so far, of all files. */
  readBytes = 0;
  readonly #starts: { line: number; path: string }[] = [];
  #line = 1;

  constructor(
    private readonly files: readonly ImportFile[],
    private readonly readDate?: ReadDate,
  ) {}

  /** NDJSON of all files, in blocks; each file ends with a newline. */
  async *blocks(): AsyncGenerator<Uint8Array> {
    for (const file of this.files) {
      this.#starts.push({ line: this.#line, path: file.path });
      const reader = file.type && new CsvReader(file.path, file.type, this.readDate);
      let last = 10;
      let isFirst = true;
      for (const block of this.#read(file.path)) {
        const lines = reader ? reader.read(block) : isFirst ? withoutMark(block) : block;
        isFirst = false;
        if (lines.length === 0) continue;
        last = lines.at(-1)!;
        yield this.#counted(lines);
      }
      const rest = (await reader?.end()) ?? new Uint8Array(0);
      if (rest.length > 0) yield this.#counted(rest);
      else if (last !== 10) yield this.#counted(Uint8Array.of(10));
    }
  }

  *#read(path: string): Generator<Uint8Array> {
    const file = openSync(path, 'r');
    try {
      for (;;) {
        const block = Buffer.allocUnsafeSlow(blockBytes);
        const size = readSync(file, block, 0, blockBytes, null);
        if (size === 0) return;
        this.readBytes += size;
        yield block.subarray(0, size);
      }
    } finally {
      closeSync(file);
    }
  }

  #counted(lines: Uint8Array): Uint8Array {
    for (let at = lines.indexOf(10); at >= 0; at = lines.indexOf(10, at + 1)) this.#line++;
    return lines;
  }

  /** The file and line (of CSV: record, the header not counted) of a line of the stream. */
  placeOf(line: number): { path: string; line: number } {
    const start = this.#starts.findLast((one) => one.line <= line)!;
    return { path: start.path, line: line - start.line + 1 };
  }
}

/** Some programs begin a text with a byte-order mark, which is no part of its first row. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? bytes.subarray(3) : bytes;
}
