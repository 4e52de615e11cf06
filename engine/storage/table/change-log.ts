// Every put and removal of one request, with what it replaced: the request alone can be undone
// inside the lane's transaction. (Nested LMDB transactions cost 100-150 us each, operations.md L07;
// this costs one read per put.)
//
// Invariant: after `undo` the tables are as they were at `begin`.
import { fail } from '../../base/errors.js';
import { intact } from '../../base/intact.js';
import type { Limits } from '../../base/limits.js';
import type { Table } from './env.js';

interface Replaced {
  table: Table<unknown>;
  key: unknown;
  /** The value before, undefined when there was none. */
  former: Uint8Array | undefined;
}

/** Many puts of new keys, which know themselves how to go. */
interface Made {
  undo: () => void;
}

/** Bytes counted per put besides the value: key, node header, CRC. */
const putOverhead = 32;

export class ChangeLog {
  #changes: (Replaced | Made)[] = [];
  #count = 0;
  #bytes = 0;
  #keep = true;
  /** Puts and removals of all requests so far. */
  total = 0;

  constructor(private readonly limits: Pick<Limits, 'txn_writes' | 'txn_bytes'>) {}

  /**
   * Starts a request. `keep: false` for work that is undone with the whole transaction only, and
   * has no limit.
   */
  begin(options: { keep: boolean } = { keep: true }): void {
    this.#changes = [];
    this.#count = 0;
    this.#bytes = 0;
    this.#keep = options.keep;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Refuses at once what is going to make at least so many changes more. */
  expect(count: number): void {
    const { txn_writes: max } = this.limits;
    if (this.#keep && this.#count + count > max) fail('TXN_TOO_LARGE', { max, unit: 'writes' });
  }

  /** Puts under a key known to be absent. */
  insert<K>(table: Table<K>, key: K, value: Uint8Array): void {
    this.#note(table, key, undefined, value.length);
    table.put(key, value);
  }

  put<K>(table: Table<K>, key: K, value: Uint8Array): void {
    this.#note(table, key, this.#keep ? table.get(key) : undefined, value.length);
    table.put(key, value);
  }

  /**
   * Puts where the caller has just read `former`: a private copy it does not change, undefined when
   * there was none.
   */
  replace<K>(table: Table<K>, key: K, former: Uint8Array | undefined, value: Uint8Array): void {
    this.#note(table, key, former, value.length);
    table.put(key, value);
  }

  remove<K>(table: Table<K>, key: K): void {
    const former = this.#keep ? table.get(key) : undefined;
    if (this.#keep && former === undefined) return;
    this.#note(table, key, former, 0);
    table.remove(key);
  }

  /** Removes what stands under a key: `former`, a private copy. Fails DATA_CORRUPT without it. */
  cut<K>(table: Table<K>, key: K, former: Uint8Array): void {
    this.#note(table, key, former, 0);
    intact(table.remove(key), 'what was read is gone');
  }

  /** Counts puts that are yet to be made, `bytes` long in all. */
  count(puts: number, bytes: number): void {
    this.total += puts;
    if (!this.#keep) return;
    this.#count += puts;
    this.#bytes += bytes + puts * putOverhead;
    const { txn_writes, txn_bytes } = this.limits;
    if (this.#count > txn_writes) this.#tooLarge(txn_writes, 'writes', 'txn_writes');
    if (this.#bytes > txn_bytes) this.#tooLarge(txn_bytes, 'bytes', 'txn_bytes');
  }

  /** Notes how puts go that were counted and are about to be made. */
  made(undo: () => void): void {
    if (this.#keep) this.#changes.push({ undo });
  }

  undo(): void {
    const changes = this.#changes;
    for (let i = changes.length - 1; i >= 0; i--) {
      const change = changes[i]!;
      if ('undo' in change) change.undo();
      else if (change.former === undefined) change.table.remove(change.key);
      else change.table.put(change.key, change.former);
    }
    this.begin();
  }

  #note<K>(table: Table<K>, key: K, former: Uint8Array | undefined, size: number): void {
    if (this.#keep) this.#changes.push({ table: table as Table<unknown>, key, former });
    this.count(1, size);
  }

  #tooLarge(max: number, unit: string, limit: string): never {
    // The last change was noted but not made: undoing it puts back what is there.
    fail('TXN_TOO_LARGE', { max, unit }, { hint: `Split the load, or raise \`limits.${limit}\`.` });
  }
}
