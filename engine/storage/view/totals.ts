// The writer's copy of state and totals: changed in memory by every request, stored once per
// transaction. Invariant: between requests it equals what the transaction would commit; after a
// failed transaction it is read again.
import type { Table } from '../table/env.js';
import {
  type State,
  type Total,
  readState,
  readTotal,
  writeState,
  writeTotal,
} from '../table/meta.js';

export class Totals {
  state: State;
  #totals = new Map<number, Total>();
  readonly #unstored = new Set<number>();
  #stateBefore: State;
  readonly #totalsBefore = new Map<number, Total>();

  constructor(private readonly meta: Table<Uint8Array>) {
    this.state = readState(meta);
    this.#stateBefore = this.state;
  }

  /** Forgets what was not stored. */
  reload(): void {
    this.state = readState(this.meta);
    this.#totals.clear();
    this.#unstored.clear();
    this.#totalsBefore.clear();
  }

  begin(): void {
    this.#stateBefore = { ...this.state };
    this.#totalsBefore.clear();
  }

  /** Back to `begin`. The newest uuid stays: ids rise even past requests that failed. */
  undo(): void {
    this.state = { ...this.#stateBefore, lastUuid: this.state.lastUuid };
    for (const [label, total] of this.#totalsBefore) this.#totals.set(label, total);
    this.#totalsBefore.clear();
  }

  of(label: number): Total {
    const known = this.#totals.get(label);
    if (known) return known;
    const total = readTotal(this.meta, label);
    this.#totals.set(label, total);
    return total;
  }

  change(label: number, change: Partial<Total>): void {
    const former = this.of(label);
    if (!this.#totalsBefore.has(label)) this.#totalsBefore.set(label, former);
    if (change.count !== undefined && change.count < former.count) {
      this.state.departures = (this.state.departures + 1) >>> 0 || 1;
    }
    this.#totals.set(label, { ...former, ...change });
    this.#unstored.add(label);
  }

  /** Writes everything changed; inside the transaction. */
  store(): void {
    for (const label of this.#unstored) writeTotal(this.meta, label, this.of(label));
    this.#unstored.clear();
    const { commits, departures } = this.state;
    this.state = { ...this.state, commits: (commits + 1) >>> 0, departures: departures || 1 };
    writeState(this.meta, this.state);
  }
}
