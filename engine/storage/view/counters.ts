// The writer's copy of state and totals: changed in memory by every request, stored once per
// transaction. It also knows from which element on uuids rise with ids: ours do, but a load may bring others.
// Invariant: between requests it equals what the transaction would commit; after a
// failed transaction it is read again.
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
  /** The uuid that the next one of ours must be above, where that is not certain. */
  #ahead: Uint8Array | undefined;
  #aheadBefore: Uint8Array | undefined;

  constructor(private readonly env: Pick<Env, 'meta' | 'uuid'>) {
    this.state = this.#stored();
    this.#stateBefore = this.state;
  }

  /** What is stored; where nobody knows how uuids stand, those from now on rise. */
  #stored(): State {
    const state = readState(this.env.meta);
    this.#ahead = greatestUuid(this.env.uuid);
    state.risenFrom ||= risenFromOf(this.env.uuid, state.nextId);
    return state;
  }

  /** The next element gets a new uuid of ours: each is above all of ours before. */
  noteUuid(uuid: Uint8Array): void {
    if (this.#ahead === undefined) return;
    this.#compare(uuid, this.#ahead);
    this.#ahead = undefined;
  }

  /** The next element brings its own uuid; `last` is the last of ours, where it is newer than the state's. */
  noteOwnUuid(uuid: Uint8Array, last = this.state.lastUuid): void {
    this.#compare(uuid, this.#ahead ?? last);
    this.#ahead = uuid.slice();
  }

  #compare(uuid: Uint8Array, former: Uint8Array): void {
    if (Buffer.compare(uuid, former) <= 0) this.state.risenFrom = this.state.nextId;
  }

  /** Forgets what was not stored. */
  reload(): void {
    this.state = this.#stored();
    this.#totals.clear();
    this.#unstored.clear();
    this.#totalsBefore.clear();
  }

  begin(): void {
    this.#stateBefore = copyOf(this.state);
    this.#aheadBefore = this.#ahead;
    this.#totalsBefore.clear();
  }

  /** Back to `begin`. The newest uuid stays: ids rise even past requests that failed. */
  undo(): void {
    const { lastUuid } = this.state;
    this.state = copyOf(this.#stateBefore);
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

  /** Writes everything changed; inside the transaction. */
  store(): void {
    for (const label of this.#unstored) writeTotal(this.env.meta, label, this.of(label));
    this.#unstored.clear();
    this.state = copyOf(this.state);
    this.state.commits = (this.state.commits + 1) >>> 0;
    this.state.removalCount ||= 1;
    writeState(this.env.meta, this.state);
  }
}

/** Member by member: a spread may make a hidden class of V8 at every call, and this is called for every write. */
const copyOf = ({
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
