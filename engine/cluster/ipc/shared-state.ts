// Shares the cluster state of a node between its threads: its position, its role, and the one append for
// which the writer waits.
//
//   i32  0   result of the writer's append: see `appendState`
//         1   role: see `roles`
//         2   incremented when the position moves; threads wait on it
//         3   epoch of the position
//   i64  2   sequence of the position: all reads of this node see that entry
//         3   sequence up to which the disk of this node has everything
//         4   sequence of the entry that was appended
//         5   chain of the entry that was appended
//   f64  6   time of the last sign of life of the log, on the shared clock; 0: never
//         7   time when everything received so far was last applied
//         8   wall clock of the leader in the last entry that was applied
//   i32 18   odd while the epoch, its sequence and the fields below change
//        19   number of remembered epochs
//        20   newest of these epochs that the current log has too; `allEpochs`: the log is the same
//        22   id of the key that signed the appended entry; 0: not signed
//        23   id of the key that signed the entry at the position; 0: not signed
//   i64 12   for each epoch: epoch, sequence, chain
//
// Invariant: each word has one writer. The log thread writes the append (except its first state), the role,
// the times of contact and the shared epochs. The writer thread writes the position and the epochs.
import type { Position } from '../entry/chain.js';
import type { ClusterPosition, ClusterRole } from '../node.js';
import { epochsMax, isAt } from './epochs.js';

export const appendState = {
  idle: 0,
  pending: 1,
  ok: 2,
  behind: 3,
  unknown: 4,
  full: 5,
  held: 6,
  lost: 7,
} as const;

const roles: readonly ClusterRole[] = ['joining', 'follower', 'leader', 'lost'];

const allEpochs = 2 ** 31 - 1;
const epochsAt = 12;
const bytes = 8 * (epochsAt + 3 * epochsMax);

/**
 * Milliseconds of one slice of the wait for an append. Between two slices, the writer reports that it is
 * alive.
 */
const sliceMs = 250;

declare global {
  interface Atomics {
    /** Part of ES2024. Resolves when the word is notified, or after `ms`. */
    waitAsync(
      words: Int32Array,
      index: number,
      value: number,
      ms?: number,
    ): { async: false; value: string } | { async: true; value: Promise<string> };
  }
}

export type AppendedEntry = Pick<Position, 'seq' | 'chain' | 'key'>;

const keyOf = (word: number): number | undefined => (word === 0 ? undefined : word >>> 0);

function makeWords(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(bytes);
  new Int32Array(buffer)[20] = allEpochs;
  return buffer;
}

export class ClusterState {
  readonly #words: Int32Array;
  readonly #numbers: BigInt64Array;
  readonly #doubles: Float64Array;

  /** Epochs in the shared memory, for the thread that writes them. */
  #epochs: readonly Position[] = [];

  constructor(readonly buffer: SharedArrayBuffer = makeWords()) {
    this.#words = new Int32Array(buffer);
    this.#numbers = new BigInt64Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  get role(): ClusterRole {
    return roles[Atomics.load(this.#words, 1)]!;
  }

  set role(role: ClusterRole) {
    Atomics.store(this.#words, 1, roles.indexOf(role));
    this.#signal();
  }

  get epoch(): number {
    return Atomics.load(this.#words, 3);
  }

  /** Reads values that belong together. Repeats the read when they changed meanwhile. */
  #readConsistent<T>(read: () => T): T {
    for (;;) {
      const version = Atomics.load(this.#words, 18);
      const result = read();
      if ((version & 1) === 0 && Atomics.load(this.#words, 18) === version) return result;
    }
  }

  /**
   * Returns the epoch and sequence of the same position. Nodes use both to decide whether a token is of their
   * log.
   */
  get position(): ClusterPosition {
    return this.#readConsistent(() => ({ epoch: this.epoch, seq: this.seq }));
  }

  get seq(): number {
    return Number(Atomics.load(this.#numbers, 2));
  }

  /** Oldest first. */
  get epochs(): Position[] {
    return this.#readConsistent(() => this.#readEpochs());
  }

  #readEpochs(): Position[] {
    const number = (i: number, word: number): bigint =>
      Atomics.load(this.#numbers, epochsAt + 3 * i + word);
    return Array.from({ length: Atomics.load(this.#words, 19) }, (_, i) => ({
      epoch: Number(number(i, 0)),
      seq: Number(number(i, 1)),
      chain: BigInt.asUintN(64, number(i, 2)),
    }));
  }

  /**
   * Returns true if reads of this node see every entry that the token refers to, and the token is of the same
   * log.
   */
  hasApplied(token: ClusterPosition): boolean {
    if (token.epoch > Atomics.load(this.#words, 20)) return false;
    return this.#readConsistent(() => isAt(this.seq, this.#readEpochs(), token));
  }

  /**
   * Records that the log was replaced: up to this epoch both logs are the same. Undefined means that no
   * common epoch is known.
   */
  publishEpochs(upTo: number | 'all' | undefined): void {
    Atomics.store(this.#words, 20, upTo === 'all' ? allEpochs : (upTo ?? -1));
  }

  /** Id of the key that signed the entry at the position; undefined when the entry is not signed. */
  get key(): number | undefined {
    return keyOf(Atomics.load(this.#words, 23));
  }

  /** Publishes the position and the epochs that every read of this node sees from now on. */
  publishPosition({
    epoch,
    seq,
    epochs,
    key = 0,
  }: ClusterPosition & { epochs: readonly Position[]; key?: number }): void {
    if (seq < this.seq) return;
    Atomics.store(this.#words, 23, key);
    if (epochs === this.#epochs) Atomics.store(this.#numbers, 2, BigInt(seq));
    else {
      Atomics.add(this.#words, 18, 1);
      Atomics.store(this.#words, 3, epoch);
      Atomics.store(this.#numbers, 2, BigInt(seq));
      this.#writeEpochs(epochs);
      Atomics.add(this.#words, 18, 1);
    }
    this.#signal();
  }

  #writeEpochs(epochs: readonly Position[]): void {
    this.#epochs = epochs;
    Atomics.store(this.#words, 19, epochs.length);
    for (const [i, { epoch, seq, chain }] of epochs.entries()) {
      const words = [BigInt(epoch), BigInt(seq), BigInt.asIntN(64, chain)];
      for (const [word, value] of words.entries())
        Atomics.store(this.#numbers, epochsAt + 3 * i + word, value);
    }
  }

  get durable(): number {
    return Number(Atomics.load(this.#numbers, 3));
  }

  set durable(seq: number) {
    Atomics.store(this.#numbers, 3, BigInt(seq));
  }

  #signal(): void {
    Atomics.add(this.#words, 2, 1);
    Atomics.notify(this.#words, 2);
  }

  /**
   * Resolves when `isSo` returns true, or after `ms` milliseconds. It calls `isSo` whenever the position or
   * the role changes, and returns the last result.
   */
  async until(isSo: () => boolean, ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    for (;;) {
      const count = Atomics.load(this.#words, 2);
      if (isSo()) return true;
      const left = end - performance.now();
      if (left <= 0) return false;
      const wait = Atomics.waitAsync(this.#words, 2, count, left);
      if (wait.async) await wait.value;
    }
  }

  /** Marks that the writer is about to request an append. */
  expectAppend(): void {
    Atomics.store(this.#words, 0, appendState.pending);
  }

  /**
   * Waits for the append. Returns its state and position. Calls `onSlice` regularly while the result is
   * unknown.
   */
  waitForAppend(onSlice: () => void): { state: number; appended: AppendedEntry } {
    while (Atomics.wait(this.#words, 0, appendState.pending, sliceMs) === 'timed-out') onSlice();
    const key = keyOf(Atomics.load(this.#words, 22));
    const appended = {
      seq: Number(Atomics.load(this.#numbers, 4)),
      chain: BigInt.asUintN(64, Atomics.load(this.#numbers, 5)),
      ...(key !== undefined && { key }),
    };
    return { state: Atomics.load(this.#words, 0), appended };
  }

  endAppend(state: number, appended?: AppendedEntry): void {
    if (Atomics.load(this.#words, 0) !== appendState.pending) return;
    if (appended !== undefined) {
      Atomics.store(this.#numbers, 4, BigInt(appended.seq));
      Atomics.store(this.#numbers, 5, BigInt.asIntN(64, appended.chain));
      Atomics.store(this.#words, 22, appended.key ?? 0);
    }
    Atomics.store(this.#words, 0, state);
    Atomics.notify(this.#words, 0);
  }

  /** Time of the last sign of life of the log, on the shared clock (base/clock.ts); 0 means never. */
  get contactAt(): number {
    return this.#doubles[6]!;
  }

  set contactAt(ms: number) {
    this.#doubles[6] = ms;
  }

  get caughtUpAt(): number {
    return this.#doubles[7]!;
  }

  set caughtUpAt(ms: number) {
    this.#doubles[7] = ms;
  }

  get leaderTime(): number {
    return this.#doubles[8]!;
  }

  set leaderTime(ms: number) {
    this.#doubles[8] = ms;
  }
}
