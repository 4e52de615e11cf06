// A table of a database in a cluster: records its puts and removals for the log entry of the transaction.
// Databases outside a cluster use the plain Table.
// Invariant: the last record of a key in the write set equals its value in the open transaction.
import type { KeyCodec } from './keys.js';
import type { WriteSet } from './write-set.js';
import { Table, type TableWatch } from './table.js';
import { type TableName, tableNames } from './table-name.js';
import { putWord } from './little-endian.js';

const wordBytes = new Uint8Array(4);

function bytesOfWord(word: number): Uint8Array {
  putWord(wordBytes, 0, word);
  return wordBytes;
}

export class ReplicatedTable<K> extends Table<K> {
  /** Number of this table in log entries: its position in the list of names. */
  readonly number: number;

  constructor(
    name: TableName,
    database: unknown,
    codec: KeyCodec<K>,
    private readonly recorder: WriteSet,
    watch: TableWatch<K> = {},
  ) {
    super(name, database, codec, watch);
    this.number = tableNames.indexOf(name);
  }

  #note(key: K, value: Uint8Array, start?: number, end?: number): void {
    const { recorder } = this;
    const size = this.codec.writeKey(key, recorder.keyBytes, 0);
    recorder.put(this.number, size, value, start, end);
  }

  /** Applies a put or a removal of another node; nothing is recorded. */
  apply(key: Uint8Array, value: Uint8Array | undefined): void {
    const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
    const own = this.codec.readKey(bytes, 0, key.length);
    if (value === undefined) super.remove(own);
    else super.put(own, value);
  }

  override put(key: K, value: Uint8Array): void {
    this.#note(key, value);
    super.put(key, value);
  }

  override insert(key: K, value: Uint8Array): boolean {
    const isDone = super.insert(key, value);
    if (isDone) this.#note(key, value);
    return isDone;
  }

  override append(key: K, value: Uint8Array): boolean {
    const isDone = super.append(key, value);
    if (isDone) this.#note(key, value);
    return isDone;
  }

  override putPart(key: K, bytes: Uint8Array, start: number, end: number): void {
    this.#note(key, bytes, start, end);
    super.putPart(key, bytes, start, end);
  }

  override insertPart(key: K, bytes: Uint8Array, start: number, end: number): boolean {
    const isDone = super.insertPart(key, bytes, start, end);
    if (isDone) this.#note(key, bytes, start, end);
    return isDone;
  }

  override appendPart(key: K, bytes: Uint8Array, start: number, end: number): boolean {
    const isDone = super.appendPart(key, bytes, start, end);
    if (isDone) this.#note(key, bytes, start, end);
    return isDone;
  }

  override putWord(key: K, word: number): void {
    this.#note(key, bytesOfWord(word));
    super.putWord(key, word);
  }

  override appendWord(key: K, word: number): boolean {
    const isDone = super.appendWord(key, word);
    if (isDone) this.#note(key, bytesOfWord(word));
    return isDone;
  }

  override insertWord(key: K, word: number): boolean {
    const isDone = super.insertWord(key, word);
    if (isDone) this.#note(key, bytesOfWord(word));
    return isDone;
  }

  override remove(key: K): boolean {
    const { recorder } = this;
    recorder.remove(this.number, this.codec.writeKey(key, recorder.keyBytes, 0));
    return super.remove(key);
  }
}
