// Fills loosely filled pages again. Updates of changing size, and deletions among old elements, leave
// the pages of a tree half empty (LMDB joins two pages only when one is under a quarter full), so
// that data of constant size would take ever more of the file.
//
// Two ways: `copyDense` writes every table anew in the order of its keys, for a database that nobody
// has open; `Repacker` rewrites a run of entries at a time, for the writer beside its other work.
// Putting a run back in the order of its keys is not enough: LMDB splits a full page in the middle of
// the tree in halves, of which the left one stays half empty. So every page that is to be is first
// given a placeholder of the largest size, under its first key: two of them do not share a page with
// anything else, hence each begins a page of its own, which its entries then fill.
//
// Invariant: keys and values stay as they are, byte for byte; each step is one transaction.
import { assert } from '../../base/assert.js';
import { type Env, Table } from '../table/env.js';

/** Bytes of a page of 4 KiB behind its header. */
const pageRoom = 4072;
/** Each entry takes two bytes of the page's index, and a head; a size is even. */
const indexBytes = 2;
const headBytes = 8;
/** A larger node keeps its value on pages of its own, and their number here. */
const nodeBytesMax = 2032;
const pageNumberBytes = 8;

/** Some room stays, so that the next growing value does not split the page at once. */
const fillAfter = 0.95;
/** Tables fuller than this are left alone. */
const fillMin = 0.82;
/** Smaller tables are not worth the writing. */
const pagesMin = 64;
/** A table that a pass did not make denser is looked at again when it has grown by this. */
const growthMin = 1.05;

/** One step of the repacker: some milliseconds. */
const stepEntries = 3000;
const stepBytes = 256 * 1024;
/** One transaction of a copy. */
const copiedBytes = 16 * 1024 * 1024;

const tablesOf = (env: Env): Table<unknown>[] =>
  Object.values(env).filter((member): member is Table<unknown> => member instanceof Table);

function nodeBytes(keySize: number, valueSize: number): number {
  const inside = headBytes + keySize + valueSize;
  const size = inside > nodeBytesMax ? headBytes + keySize + pageNumberBytes : inside;
  return size + (size & 1);
}

interface Packed {
  key: unknown;
  value: Uint8Array;
  keySize: number;
  size: number;
}

/** Up to `limit` entries from `start` on. */
function take(table: Table<unknown>, start: unknown, limit: number): Packed[] {
  return table.withChecksum(start, limit).map(({ key, value }) => {
    const keySize = table.keyBytes(key).length;
    return { key, value, keySize, size: indexBytes + nodeBytes(keySize, value.length) };
  });
}

/** Copies every table into a new environment, each in the order of its keys. */
export function copyDense(from: Env, to: Env): void {
  const targets = new Map(tablesOf(to).map((table) => [table.name, table]));
  for (const table of tablesOf(from)) {
    const { first } = table;
    if (first === undefined) continue;
    const copy = { from: table, to: targets.get(table.name)!, next: first, count: 0 };
    let isMore = true;
    while (isMore) {
      to.transact(() => {
        isMore = copySome(copy);
        return true;
      });
    }
    assert(copy.count === table.extent.entries, `every entry of ${table.name} was read`);
  }
}

interface TableCopy {
  from: Table<unknown>;
  to: Table<unknown>;
  /** The first key that is not copied yet, or the last one of all. */
  next: unknown;
  count: number;
}

/** Copies as much as one transaction should hold; whether there is more. */
function copySome(copy: TableCopy): boolean {
  for (let bytes = 0; bytes < copiedBytes; ) {
    const found = take(copy.from, copy.next, stepEntries + 1);
    const fresh = found.slice(0, stepEntries);
    for (const { key, value } of fresh) {
      assert(copy.to.appendSealed(key, value), 'keys come in their order');
      bytes += value.length;
    }
    copy.count += fresh.length;
    if (found.length === fresh.length) return false;
    copy.next = found.at(-1)!.key;
  }
  return true;
}

/** Puts entries back in the order of their keys, from the beginning of a page on. */
function fillPages(table: Table<unknown>, run: readonly Packed[]): void {
  for (const { key } of run) table.remove(key);
  let used = pageRoom;
  for (const { key, keySize, size } of run) {
    if (used + size > pageRoom * fillAfter) {
      table.putSealed(key, new Uint8Array(nodeBytesMax - headBytes - keySize));
      used = 0;
    }
    used += size;
  }
  for (const { key, value } of run) table.putSealed(key, value);
}

/** A walk over one table: to learn how full its pages are, then to fill them where that is worth it. */
interface Pass {
  table: Table<unknown>;
  kind: 'measure' | 'fill';
  /** Where it goes on. */
  from: unknown;
  /** Bytes of the entries that were measured. */
  bytes: number;
}

export class Repacker {
  /** Pages of each table when it was last measured or filled. */
  readonly #known = new Map<string, number>();
  readonly #tables: Table<unknown>[];
  #pass: Pass | undefined;
  #next = 0;

  constructor(env: Env) {
    this.#tables = tablesOf(env);
  }

  /**
   * Whether there is work: `read` some of a table that has grown, to measure it, or `write` a run of
   * entries. One table is looked at when nothing is under way.
   */
  get due(): 'read' | 'write' | undefined {
    this.#pass ??= this.#begin(this.#tables[this.#next++ % this.#tables.length]!);
    if (this.#pass === undefined) return undefined;
    return this.#pass.kind === 'measure' ? 'read' : 'write';
  }

  #begin(table: Table<unknown>): Pass | undefined {
    const { pages } = table.extent;
    const { first } = table;
    const isGrown = pages >= pagesMin && pages >= (this.#known.get(table.name) ?? 0) * growthMin;
    if (!isGrown || first === undefined) return undefined;
    return { table, kind: 'measure', from: first, bytes: 0 };
  }

  /**
   * Does what is due; `write` belongs into a transaction. False: the table is damaged here. Nothing of
   * the step may be kept, and the table is left alone from now on: requests will meet the damage.
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
    const found = take(pass.table, pass.from, stepEntries + 1);
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
