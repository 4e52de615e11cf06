// Defragments the data file. Updates of changing size, and deletions among old elements, leave pages half
// empty, because LMDB merges two pages only when one is under a quarter full. Without defragmentation, data
// of constant size would take more and more of the file.
//
// There are two ways. `copyDense` writes every table in key order into a new file, for a database that no
// other process has open. `Repacker` rewrites a run of entries at a time, on the writer thread between its
// other work.
//
// Putting a run back in key order is not enough: LMDB splits a full page in the middle of the tree in halves,
// and the left half stays half empty. So the first key of every future page first gets a placeholder of the
// largest size. Two placeholders never share a page, so each one begins a page, which its entries then fill.
//
// Invariant: keys and values stay equal, byte for byte; each step is one transaction.
import { assert } from '../../base/assert.js';
import { type Env, Table } from '../table/env.js';

/** Bytes of a page of 4 KiB after its header. */
const pageRoom = 4072;
/** Each entry takes two bytes of the page's index, and a head. Its size is even. */
const indexBytes = 2;
const headBytes = 8;
/** A larger node stores its value on overflow pages and only their number in the leaf. */
const nodeBytesMax = 2032;
const pageNumberBytes = 8;

/** A little space stays free, so that the next value that grows does not split the page. */
const fillAfter = 0.95;
/** Tables that are fuller than this are not defragmented. */
const fillMin = 0.82;
/** Smaller tables are not worth the writes. */
const pagesMin = 64;
/**
 * A table is measured again when it has grown by this factor since the last pass, which has read or written
 * the whole table. While others write, the second factor holds: with the first one, a table that only grows
 * would be read 20 times for each entry.
 */
const growthMin = 1.05;
const growthWhileBusy = 1.25;

/** Size of one step of the repacker, which takes a few milliseconds. */
const stepEntries = 3000;
const stepBytes = 256 * 1024;
/** Bytes of one transaction of a copy. */
const copiedBytes = 16 * 1024 * 1024;

const tablesOf = (env: Env): Table<unknown>[] =>
  Object.values(env).filter((member): member is Table<unknown> => member instanceof Table);

function nodeBytes(keySize: number, valueSize: number): number {
  const inside = headBytes + keySize + valueSize;
  const size = inside > nodeBytesMax ? headBytes + keySize + pageNumberBytes : inside;
  return size + (size & 1);
}

interface SizedEntry {
  key: unknown;
  value: Uint8Array;
  keySize: number;
  size: number;
}

/** Returns up to `limit` entries from `start` on. */
function readEntries(table: Table<unknown>, start: unknown, limit: number): SizedEntry[] {
  return table.withChecksum(start, limit).map(({ key, value }) => {
    const keySize = table.keyBytes(key).length;
    return { key, value, keySize, size: indexBytes + nodeBytes(keySize, value.length) };
  });
}

/** Copies every table into a new environment, each in key order. */
export function copyDense(from: Env, to: Env): void {
  const targets = new Map(tablesOf(to).map((table) => [table.name, table]));
  for (const table of tablesOf(from)) {
    const { first } = table;
    if (first === undefined) continue;
    const copy = { from: table, to: targets.get(table.name)!, next: first, count: 0 };
    let isMore = true;
    while (isMore) {
      to.transact(() => {
        isMore = copyUntilFull(copy);
        return true;
      });
    }
    assert(copy.count === table.extent.entries, `every entry of ${table.name} was read`);
  }
}

interface TableCopy {
  from: Table<unknown>;
  to: Table<unknown>;
  /** First key that is not copied yet, or the last key of all. */
  next: unknown;
  count: number;
}

/** Copies entries for one transaction. Returns whether more are left. */
function copyUntilFull(copy: TableCopy): boolean {
  for (let bytes = 0; bytes < copiedBytes; ) {
    const found = readEntries(copy.from, copy.next, stepEntries + 1);
    const fresh = found.slice(0, stepEntries);
    for (const { key, value } of fresh) {
      assert(copy.to.appendRaw(key, value), 'keys come in their order');
      bytes += value.length;
    }
    copy.count += fresh.length;
    if (found.length === fresh.length) return false;
    copy.next = found.at(-1)!.key;
  }
  return true;
}

/** Removes a run of entries and puts them back in key order, so that they fill their pages. */
function fillPages(table: Table<unknown>, run: readonly SizedEntry[]): void {
  for (const { key } of run) table.remove(key);
  let used = pageRoom;
  for (const { key, keySize, size } of run) {
    if (used + size > pageRoom * fillAfter) {
      table.putRaw(key, new Uint8Array(nodeBytesMax - headBytes - keySize));
      used = 0;
    }
    used += size;
  }
  for (const { key, value } of run) table.putRaw(key, value);
}

/** One pass over a table: measures how full its pages are, or fills them. */
interface Pass {
  table: Table<unknown>;
  kind: 'measure' | 'fill';
  /** Key at which the next step starts. */
  from: unknown;
  /** Bytes of the entries that were measured. */
  bytes: number;
}

export class Repacker {
  /** Number of pages of each table when it was last measured or filled. */
  readonly #known = new Map<string, number>();
  readonly #tables: Table<unknown>[];
  #pass: Pass | undefined;
  #next = 0;

  constructor(env: Env) {
    this.#tables = tablesOf(env);
  }

  /**
   * Returns the next kind of step: `read` measures a table that has grown, `write` rewrites a run of entries,
   * undefined means that nothing is due. `isBusy`: others are writing; then only much growth begins a pass.
   */
  due(isBusy: boolean): 'read' | 'write' | undefined {
    for (let i = 0; i < this.#tables.length && this.#pass === undefined; i++) {
      this.#pass = this.#begin(this.#tables[this.#next++ % this.#tables.length]!, isBusy);
    }
    if (this.#pass === undefined) return undefined;
    return this.#pass.kind === 'measure' ? 'read' : 'write';
  }

  #begin(table: Table<unknown>, isBusy: boolean): Pass | undefined {
    const { pages } = table.extent;
    const growth = isBusy ? growthWhileBusy : growthMin;
    if (pages < pagesMin || pages < (this.#known.get(table.name) ?? 0) * growth) return undefined;
    const { first } = table;
    return first === undefined ? undefined : { table, kind: 'measure', from: first, bytes: 0 };
  }

  /**
   * Runs the step that is due; a `write` step needs an open transaction. Returns false if the table is
   * damaged here: undo the transaction. The table is not defragmented again, and requests will report the
   * damage.
   */
  step(): boolean {
    const pass = this.#pass!;
    try {
      this.#advance(pass);
      return true;
    } catch {
      this.#known.set(pass.table.name, Number.POSITIVE_INFINITY);
      this.#pass = undefined;
      return false;
    }
  }

  #advance(pass: Pass): void {
    const found = readEntries(pass.table, pass.from, stepEntries + 1);
    let bytes = 0;
    let count = 0;
    while (count < found.length && count < stepEntries && bytes < stepBytes) {
      bytes += found[count++]!.size;
    }
    if (pass.kind === 'fill') fillPages(pass.table, found.slice(0, count));
    pass.bytes += bytes;
    if (count < found.length) pass.from = found[count]!.key;
    else this.#end(pass);
  }

  #end({ table, kind, bytes }: Pass): void {
    const { pages } = table.extent;
    this.#pass = undefined;
    if (kind === 'fill' || bytes > pages * pageRoom * fillMin) this.#known.set(table.name, pages);
    else this.#pass = { table, kind: 'fill', from: table.first, bytes: 0 };
  }
}
