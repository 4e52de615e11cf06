// Reads the files of `trellis import` as one stream of NDJSON, and maps a line of the stream back to its
// file.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Schema } from '../../engine/internal.js';
import { CsvReader } from './csv.js';
import type { ImportFile } from './import-file.js';

const blockBytes = 4 * 1024 * 1024;

/**
 * Returns the name of the import of these files. An interrupted import continues under this name, and a
 * finished one is recognized by it. The name depends on the contents and the settings, not on the paths.
 */
export function nameOf(files: readonly ImportFile[]): string {
  const hash = createHash('sha256');
  for (const { path, bytes, settings, type } of files) {
    hash.update(`${bytes}\n${type?.kind} ${type?.name}\n${JSON.stringify(settings)}\n`);
    for (const block of blocksOf(path)) hash.update(block);
  }
  return `import ${hash.digest('hex').slice(0, 32)}`;
}

interface Start {
  line: number;
  path: string;
  /** Lines that the reader adds before the lines of the file. */
  before: number;
  reader: CsvReader | undefined;
}

export class ImportSource {
  /** Bytes of all files read so far. */
  readBytes = 0;
  readonly #starts: Start[] = [];
  #line = 1;

  constructor(
    private readonly files: readonly ImportFile[],
    private readonly schema: Schema,
  ) {}

  /** Fails CONFIG_INVALID for an invalid header, before anything is loaded. */
  checkHeaders(): void {
    for (const { path, form, header } of this.files) {
      if (form === undefined) continue;
      const reader = new CsvReader(header ?? path, form);
      if (header !== undefined) reader.read(headerIn(header));
      for (const block of blocksOf(path, 64 * 1024)) {
        if (reader.isOpen) break;
        reader.read(block);
      }
      if (!reader.isOpen) reader.end();
    }
  }

  /** Yields the NDJSON of all files in blocks. Each file ends with a newline. */
  *blocks(): Generator<Uint8Array> {
    for (const file of this.files) {
      const settings = this.#settingsOf(file);
      if (settings.length > 0) yield this.#counted(Buffer.from(settings));
      const reader = file.form && new CsvReader(file.path, file.form);
      const before = file.header === undefined ? 0 : 1;
      this.#starts.push({ line: this.#line, path: file.path, before, reader });
      if (file.header !== undefined) reader?.read(headerIn(file.header));
      let last = 10;
      let isFirst = true;
      for (const block of blocksOf(file.path)) {
        this.readBytes += block.length;
        const lines = reader ? reader.read(block) : isFirst ? withoutMark(block) : block;
        isFirst = false;
        if (lines.length === 0) continue;
        last = lines.at(-1)!;
        yield this.#counted(lines);
      }
      const rest = reader?.end() ?? new Uint8Array(0);
      if (rest.length > 0) yield this.#counted(rest);
      else if (last !== 10) yield this.#counted(Uint8Array.of(10));
    }
  }

  /**
   * Returns the settings rows: how the rows of the file's types identify endpoints and elements.
   */
  #settingsOf({ type, settings, isEdges }: ImportFile): string {
    const { from_key, to_key, upsert } = settings;
    const { nodes, edges, vectors } = this.schema;
    const types = type ? [type] : isEdges ? edges : [...nodes, ...vectors];
    const rows = types.map(({ kind, name, properties }) => {
      const labelled = { [kind]: name };
      if (kind === 'edge') return { ...labelled, from_key, to_key };
      const isMeant = type !== undefined || properties.some((one) => one.name === upsert);
      return { ...labelled, ...(isMeant && { upsert }) };
    });
    const isPlain = this.files.every(
      ({ settings: one }) => !one.from_key && !one.to_key && !one.upsert,
    );
    return isPlain ? '' : rows.map((row) => `${JSON.stringify({ settings: row })}\n`).join('');
  }

  #counted(lines: Uint8Array): Uint8Array {
    for (let at = lines.indexOf(10); at >= 0; at = lines.indexOf(10, at + 1)) this.#line++;
    return lines;
  }

  /** Returns the file and line of a line of the stream. */
  locationOf(line: number): { path: string; line: number } {
    let below = 0;
    for (let above = this.#starts.length; below < above; ) {
      const middle = (below + above) >> 1;
      if (this.#starts[middle]!.line <= line) below = middle + 1;
      else above = middle;
    }
    // Settings rows come before the rows of their file.
    const start = this.#starts[Math.max(0, below - 1)];
    if (start === undefined || line < start.line) return { path: this.files[0]!.path, line: 1 };
    const { path, line: first, before, reader } = start;
    const row = line - first + 1;
    return { path, line: (reader?.lineOf(row) ?? row) - before };
  }
}

/** Returns the first line of a file with its line end. */
function headerIn(path: string): Buffer {
  const [first] = readFileSync(path, 'utf8').split(/[\r\n]/, 1);
  return Buffer.from(`${first}\n`);
}

function* blocksOf(path: string, bytes = blockBytes): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const block = Buffer.allocUnsafeSlow(bytes);
      const size = readSync(file, block, 0, bytes, null);
      if (size === 0) return;
      yield block.subarray(0, size);
    }
  } finally {
    closeSync(file);
  }
}

/** Some programs write a byte-order mark at the start of a text; it is no part of the first row. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? bytes.subarray(3) : bytes;
}
