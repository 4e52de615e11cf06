// Loads a dump into an empty data directory, without threads. It builds no vector indexes; the next start
// builds them. Memory is one chunk at a time.
import type { LanguageName } from '../../base/text/language-name.js';
import { type Hash, createHash } from 'node:crypto';
import { fail, TrellisError } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import { instantFromMicros } from '../../base/date.js';
import { findCatalogError } from '../../storage/catalog/catalog-check.js';
import type { StoredCatalog } from '../../storage/catalog/catalog-record.js';
import type { Storage } from '../../storage/open-storage.js';
import type { LoadView } from '../../storage/view/load-view.js';
import { dumpVersion } from './dump.js';
import { NameIds } from '../load/name-ids.js';
import type { BatchResult } from '../load/row/row-batch.js';
import { RowReader } from '../load/row/row-reader.js';
import { RowWriter } from '../load/row-writer.js';
import { addMissingTexts } from './rebuild-text-index.js';

const chunkBytes = 8 * 1024 * 1024;
const newline = 10;

export interface DumpReaderOptions {
  limits: Limits;
  textEnabled: boolean;
  textLanguage: LanguageName;
}

interface DumpEnd {
  count: number;
  sha256: string;
}

/** Checksum of a dump up to its last line. It does not interpret the lines. */
class DumpSum {
  readonly #hash: Hash = createHash('sha256');
  /** The last whole line, and the bytes after it. */
  #tail: Uint8Array = new Uint8Array(0);

  write(bytes: Uint8Array): void {
    const all = Buffer.concat([this.#tail, bytes]);
    const last = all.lastIndexOf(newline, all.lastIndexOf(newline) - 1) + 1;
    this.#hash.update(all.subarray(0, last));
    this.#tail = all.subarray(last);
  }

  /** Call it at the end. Returns true if the last line is a checksum line and matches. */
  holds(): boolean {
    try {
      const line = JSON.parse(Buffer.from(this.#tail).toString()) as { trellis_dump_end: DumpEnd };
      return line.trellis_dump_end.sha256 === this.#hash.digest('hex');
    } catch {
      return false;
    }
  }
}

/** Takes a dump chunk by chunk. */
export class DumpReader {
  count = 0;
  readonly #sum = new DumpSum();
  /** An error that is not a refused row: a defect, or the result of a damaged catalog or row. */
  #error: unknown;
  #rest: Uint8Array = new Uint8Array(0);
  #reader: RowReader | undefined;
  #line = 1;
  #end: DumpEnd | undefined;
  readonly #names = new NameIds();

  constructor(
    private readonly storage: Storage,
    private readonly options: DumpReaderOptions,
  ) {}

  /** Fails DATA_CORRUPT at the first malformed line. */
  write(bytes: Uint8Array): void {
    this.#sum.write(bytes);
    this.#attempt(() => this.#take(bytes));
  }

  /** Ends the dump. Fails DATA_CORRUPT when the last line is missing or does not match. */
  end(): void {
    this.#attempt(() => this.#load(this.#rest.lastIndexOf(newline) + 1));
    const isComplete = this.#sum.holds();
    if (this.#error !== undefined && isComplete) throw this.#error;
    const end = this.#end;
    if (this.#error === undefined && (end === undefined || this.#rest.length > 0))
      this.#refuse('its last line is missing');
    if (end !== undefined && end.count !== this.count)
      this.#refuse(`it has ${this.count} elements, not ${end.count}`);
    if (!isComplete) this.#refuse('its checksum does not match');
    this.storage.flushAdjacency();
    this.storage.reloadCatalog();
    addMissingTexts(this.storage, this.options);
  }

  /** Only the end shows whether an error comes from a damaged dump. Until then, the rest is only read. */
  #attempt(work: () => void): void {
    if (this.#error !== undefined) return;
    try {
      work();
    } catch (error) {
      if (error instanceof TrellisError) throw error;
      this.#error = error;
    }
  }

  #take(bytes: Uint8Array): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#reader === undefined) this.#open();
    if (this.#rest.length >= chunkBytes) this.#load(this.#rest.lastIndexOf(newline) + 1);
  }

  #open(): void {
    const size = this.#rest.indexOf(newline) + 1;
    if (size === 0) return;
    const head = this.#parse(this.#rest.subarray(0, size));
    if (head.trellis_dump !== dumpVersion) this.#refuse('its first line is not that of a dump');
    const error = findCatalogError(head.catalog);
    if (error !== undefined) this.#refuse(`line 1: ${error}`);
    this.storage.useCatalog(head.catalog as StoredCatalog);
    // The keyword index is built at the end, from the declared types, which here are all types.
    this.#reader = new RowReader(this.storage.catalog, {
      ...this.options,
      textEnabled: false,
      isDump: true,
    });
  }

  #parse(line: Uint8Array): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(Buffer.from(line).toString());
    } catch {
      value = undefined;
    }
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject
      ? (value as Record<string, unknown>)
      : this.#refuse(`line ${this.#line} is no JSON object`);
  }

  #load(size: number): void {
    const { storage } = this;
    let bytes = this.#rest.subarray(0, size);
    this.#rest = this.#rest.slice(size);
    const last = bytes.lastIndexOf(newline, -2) + 1;
    if (bytes.length > 0 && isEnd(bytes.subarray(last))) {
      this.#end = this.#endOf(this.#parse(bytes.subarray(last)).trellis_dump_end);
      bytes = bytes.subarray(0, last);
    }
    if (this.#reader === undefined) this.#refuse('its first line is missing');
    const batch = this.#reader.read(bytes, this.#line, instantFromMicros(0));
    storage.env.room.need(bytes.length);
    const work = (view: LoadView): BatchResult => new RowWriter(view, batch, this.#names).write();
    const { result } = storage.load(0, work, true);
    const [reject] = [...batch.rejects, ...result.rejects];
    if (reject) this.#refuse(`line ${reject.line}: ${new TrellisError(reject.error).message}`);
    this.count += batch.count;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) this.#line++;
  }

  #endOf(value: unknown): DumpEnd {
    const { count, sha256 } = (value ?? {}) as Partial<DumpEnd>;
    const isEnd = Number.isSafeInteger(count) && typeof sha256 === 'string';
    return isEnd ? (value as DumpEnd) : this.#refuse('its last line is not that of a dump');
  }

  #refuse(what: string): never {
    return fail('DATA_CORRUPT', { what: `the dump cannot be loaded: ${what}` });
  }
}

const endMark = Buffer.from('{"trellis_dump_end"');
const isEnd = (line: Uint8Array): boolean =>
  Buffer.compare(line.subarray(0, endMark.length), endMark) === 0;
