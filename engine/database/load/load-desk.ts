// The bulk loads of an open database. A reload of the program waits for the pieces under way, and
// holds back the next ones until it is over: rows are read and written under one schema.
import { fail } from '../../base/errors.js';
import type { ReadView } from '../../storage/store.js';
import { type LoadHooks, LoadRun, type BulkLoad } from './load-run.js';
import { readPieces, readProgress } from './load-progress.js';

/** Loads at a time: each has a thread. */
const loadsMax = 4;

export class LoadDesk {
  readonly #open = new Set<string>();
  #underway = 0;
  #schema = 0;
  #barrier: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** Begins a load, or goes on with the one of that name. Fails OVERLOADED. */
  begin(name: string, view: ReadView, hooks: Omit<LoadHooks, 'admit' | 'leave'>): BulkLoad {
    if (this.#open.has(name) || this.#open.size >= loadsMax) {
      fail('OVERLOADED', { queue: 'The table of running loads' });
    }
    this.#open.add(name);
    const progress = readProgress(view, name);
    return new LoadRun(name, progress, readPieces(view, name), {
      ...hooks,
      admit: () => this.#admit(),
      leave: () => this.#leave(),
      order: (order) => {
        if (order.step === 'finish' || order.step === 'drop') this.#open.delete(name);
        return hooks.order(order);
      },
    });
  }

  async #admit(): Promise<number> {
    while (this.#barrier) await this.#barrier;
    this.#underway++;
    return this.#schema;
  }

  #leave(): void {
    if (--this.#underway === 0) this.#onIdle?.();
  }

  /** Runs `change` while no piece is under way. */
  async whileIdle(change: () => Promise<void>): Promise<void> {
    let open!: () => void;
    this.#barrier = new Promise((resolve) => (open = resolve));
    try {
      if (this.#underway > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
      await change();
      this.#schema++;
    } finally {
      this.#barrier = undefined;
      this.#onIdle = undefined;
      open();
    }
  }
}
