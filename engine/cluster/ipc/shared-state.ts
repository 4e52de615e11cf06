// The words that the threads of a node share about its cluster: how far it is, its part in it, and the one
// append for which the writer waits.
//
//   i32  0   what became of the writer's append: see `appendState`
//        1   role: see `roles`
//        2   counted up when the position moves; threads wait on it
//        3   epoch of the position
//   i64  2   sequence of the position: all reads of this node see that entry
//        3   sequence up to which the disk of this node has everything
//        4   sequence of the entry that was appended
//        5   its chain
//   f64  6   when the log was last heard, on the clock that all threads share; 0: never
//        7   when all that was heard was last applied
//        8   wall clock of the leader in the last entry that was applied
//   i32 18   odd while the epoch moves, with its sequence and what follows
//       19   count of epochs that are remembered
//       20   newest epoch of them that the log, which is another one since, has too; `allEpochs`: it is the same one
//       22   key by which the entry was signed that was appended; 0: by none
//       23   key by which the entry at the position is signed; 0: by none
//   i64 12   of each: epoch, sequence, chain
//
// Invariant: each word has one writer: the log thread has all of the append but its first state, role, what is heard
// and which epochs are those of the log; the writer has the position and the epochs.
import type { Position } from '../entry/chain.js';
import type { ClusterPosition, ClusterRole } from '../node.js';
import { epochsKept, isAt } from './epochs.js';

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
const bytes = 8 * (epochsAt + 3 * epochsKept);

/** A slice of the wait for an append; between two of them the writer says that it is alive. */
const sliceMs = 250;

declare global {
  interface Atomics {
    /** Of ES2024: resolves when the word is notified, or after `ms`. */
    waitAsync(
      words: Int32Array,
      index: number,
      value: number,
      ms?: number,
    ): { async: false; value: string } | { async: true; value: Promise<string> };
  }
}

export type AppendedPlace = Pick<Position, 'seq' | 'chain' | 'key'>;

const keyOf = (word: number): number | undefined => (word === 0 ? undefined : word >>> 0);

function makeWords(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(bytes);
  new Int32Array(buffer)[20] = allEpochs;
  return buffer;
}

export class ClusterState {
  readonly #words: Int32Array;
  readonly #numbers: BigInt64Array;
  readonly #times: Float64Array;

  /** Those that stand there, for the thread that writes them. */
  #epochs: readonly Position[] = [];

  constructor(readonly buffer: SharedArrayBuffer = makeWords()) {
    this.#words = new Int32Array(buffer);
    this.#numbers = new BigInt64Array(buffer);
    this.#times = new Float64Array(buffer);
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

  /** Reads what belongs together, again where it moved meanwhile. */
  #whole<T>(read: () => T): T {
    for (;;) {
      const version = Atomics.load(this.#words, 18);
      const result = read();
      if ((version & 1) === 0 && Atomics.load(this.#words, 18) === version) return result;
    }
  }

  /** Never a sequence with the epoch of another: nodes judge by the two whether it is of their log. */
  get position(): ClusterPosition {
    return this.#whole(() => ({ epoch: this.epoch, seq: this.seq }));
  }

  get seq(): number {
    return Number(Atomics.load(this.#numbers, 2));
  }

  /** Oldest first. */
  get epochs(): Position[] {
    return this.#whole(() => this.#readEpochs());
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

  /** Whether reads of this node see all that a token tells of, and the token is of the log that they are of. */
  hasApplied(token: ClusterPosition): boolean {
    if (token.epoch > Atomics.load(this.#words, 20)) return false;
    return this.#whole(() => isAt(this.seq, this.#readEpochs(), token));
  }

  /** The log is another one since: up to this epoch it is the same; undefined: nobody knows of any. */
  shareEpochs(upTo: number | 'all' | undefined): void {
    Atomics.store(this.#words, 20, upTo === 'all' ? allEpochs : (upTo ?? -1));
  }

  /** By which key the entry at the position is signed; undefined: by none. */
  get key(): number | undefined {
    return keyOf(Atomics.load(this.#words, 23));
  }

  /** What every read of this node sees from now on, with the epochs that it remembers. */
  reach({
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

  /** Resolves when `isSo`, asked whenever position or role move, or after `ms`; gives its last answer. */
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

  /** The writer is about to ask for an append. */
  expectAppend(): void {
    Atomics.store(this.#words, 0, appendState.pending);
  }

  /** What became of the append, and where it is. `onSlice` is called now and then while that is unknown. */
  waitForAppend(onSlice: () => void): { state: number; place: AppendedPlace } {
    while (Atomics.wait(this.#words, 0, appendState.pending, sliceMs) === 'timed-out') onSlice();
    const key = keyOf(Atomics.load(this.#words, 22));
    const place = {
      seq: Number(Atomics.load(this.#numbers, 4)),
      chain: BigInt.asUintN(64, Atomics.load(this.#numbers, 5)),
      ...(key !== undefined && { key }),
    };
    return { state: Atomics.load(this.#words, 0), place };
  }

  endAppend(state: number, place?: AppendedPlace): void {
    if (Atomics.load(this.#words, 0) !== appendState.pending) return;
    if (place !== undefined) {
      Atomics.store(this.#numbers, 4, BigInt(place.seq));
      Atomics.store(this.#numbers, 5, BigInt.asIntN(64, place.chain));
      Atomics.store(this.#words, 22, place.key ?? 0);
    }
    Atomics.store(this.#words, 0, state);
    Atomics.notify(this.#words, 0);
  }

  /** On the clock that all threads share (base/clock.ts); 0: never. */
  get heardAt(): number {
    return this.#times[6]!;
  }

  set heardAt(ms: number) {
    this.#times[6] = ms;
  }

  get caughtUpAt(): number {
    return this.#times[7]!;
  }

  set caughtUpAt(ms: number) {
    this.#times[7] = ms;
  }

  get leaderTime(): number {
    return this.#times[8]!;
  }

  set leaderTime(ms: number) {
    this.#times[8] = ms;
  }
}
