// The writer's copy of state and totals. Every request changes it in memory, and each transaction stores it
// once. It also tracks from which element on uuids ascend with ids: generated uuids do, but a load may bring
// others.
// Invariant: between requests it equals what the transaction would commit. After a failed transaction it is
// read again.
import type { Env } from '../table/env.js';
import { greatestUuid, risenFromOf } from './uuid-order.js';
import {
  type State,
  type Total,
  readState,
  readTotal,
  writeState,
  writeTotal,
} from '../table/meta.js';

export class StoreCounters {
  state: State;
  #totals = new Map<number, Total>();
  readonly #unstored = new Set<number>();
  #stateBefore: State;
  readonly #totalsBefore = new Map<number, Total>();
  /**
   * The uuid that the next generated one is compared with; undefined if the next one is known to be above all
   * others.
   */
  #ahead: Uint8Array | undefined;
  #aheadBefore: Uint8Array | undefined;

  constructor(private readonly env: Pick<Env, 'meta' | 'uuid'>) {
    this.state = this.#stored();
    this.#stateBefore = this.state;
  }

  /**
   * Reads the stored state. If the order of uuids is unknown, it is determined, or starts with the next
   * element.
   */
  #stored(): State {
    const state = readState(this.env.meta);
    this.#ahead = greatestUuid(this.env.uuid);
    state.risenFrom ||= risenFromOf(this.env.uuid, state.nextId);
    return state;
  }

  /** The next element gets a generated uuid, which is above all generated ones before it. */
  noteUuid(uuid: Uint8Array): void {
    if (this.#ahead === undefined) return;
    this.#compare(uuid, this.#ahead);
    this.#ahead = undefined;
  }

  /**
   * The next element brings its own uuid. `last`: the last generated uuid, if it is newer than that of the
   * state.
   */
  noteOwnUuid(uuid: Uint8Array, last = this.state.lastUuid): void {
    this.#compare(uuid, this.#ahead ?? last);
    this.#ahead = uuid.slice();
  }

  #compare(uuid: Uint8Array, former: Uint8Array): void {
    if (Buffer.compare(uuid, former) <= 0) this.state.risenFrom = this.state.nextId;
  }

  /** Drops all changes that were not stored. */
  reload(): void {
    this.state = this.#stored();
    this.#totals.clear();
    this.#unstored.clear();
    this.#totalsBefore.clear();
  }

  begin(): void {
    this.#stateBefore = copyState(this.state);
    this.#aheadBefore = this.#ahead;
    this.#totalsBefore.clear();
  }

  /** Restores the state of `begin`, except for the newest uuid: uuids ascend even past failed requests. */
  undo(): void {
    const { lastUuid } = this.state;
    this.state = copyState(this.#stateBefore);
    this.state.lastUuid = lastUuid;
    this.#ahead = this.#aheadBefore;
    for (const [label, total] of this.#totalsBefore) this.#totals.set(label, total);
    this.#totalsBefore.clear();
  }

  of(label: number): Total {
    const known = this.#totals.get(label);
    if (known) return known;
    const total = readTotal(this.env.meta, label);
    this.#totals.set(label, total);
    return total;
  }

  change(label: number, change: Partial<Total>): void {
    const former = this.of(label);
    if (!this.#totalsBefore.has(label)) this.#totalsBefore.set(label, former);
    if (change.count !== undefined && change.count < former.count) {
      this.state.removalCount = (this.state.removalCount + 1) >>> 0 || 1;
    }
    const { count = former.count, dimension = former.dimension } = change;
    this.#totals.set(label, { count, dimension });
    this.#unstored.add(label);
  }

  /** Writes all changes, inside the transaction. */
  store(): void {
    for (const label of this.#unstored) writeTotal(this.env.meta, label, this.of(label));
    this.#unstored.clear();
    this.state = copyState(this.state);
    this.state.commits = (this.state.commits + 1) >>> 0;
    this.state.removalCount ||= 1;
    writeState(this.env.meta, this.state);
  }
}

/**
 * The members are listed: a spread may create a hidden class of V8 at every call, and every write calls this.
 */
const copyState = ({
  nextId,
  commits,
  nextSeq,
  removalCount: departures,
  risenFrom,
  lastUuid,
}: State): State => ({
  nextId,
  commits,
  nextSeq,
  removalCount: departures,
  risenFrom,
  lastUuid,
});
