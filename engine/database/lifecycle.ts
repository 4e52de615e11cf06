// Holds the state of one open database and decides which changes of state are possible. Runs on the main
// thread. It starts no timer and no thread, and opens no file.
//
//   opening -> replaying -> serving -> stopping -> closed
//                           serving <-> reopening
//
// From every state but `closed` the data may be lost, and the database may be stopped.
//
// Invariant: a database that has lost its data never serves again. A stopped database keeps the reason.
import { assert } from '../base/assert.js';
import { type TrellisError, fail } from '../base/errors.js';
import type { DatabaseStatus } from './database.js';

export type LifecycleState =
  | 'opening'
  | 'replaying'
  | 'serving'
  /** All threads release the data file and open it again. */
  | 'reopening'
  /** The data are no longer usable. */
  | 'lost'
  | 'stopping'
  | 'closed';

export type LifecycleEvent = 'replay' | 'serve' | 'reopen' | 'lose' | 'stop' | 'end';

/** Next state by state and event. An event that a state does not list is a defect of the caller. */
export const transitions: Readonly<
  Record<LifecycleState, Partial<Record<LifecycleEvent, LifecycleState>>>
> = {
  opening: { replay: 'replaying', lose: 'lost', stop: 'stopping' },
  replaying: { serve: 'serving', lose: 'lost', stop: 'stopping' },
  serving: { reopen: 'reopening', lose: 'lost', stop: 'stopping' },
  reopening: { serve: 'serving', lose: 'lost', stop: 'stopping' },
  // Opening and reopening finish after the data were lost, or after the database was stopped.
  lost: { replay: 'lost', serve: 'lost', lose: 'lost', stop: 'stopping' },
  stopping: { serve: 'stopping', lose: 'stopping', stop: 'stopping', end: 'closed' },
  // The last check of the disk may end after the database has closed.
  closed: { lose: 'closed' },
};

/** Why the data are no longer usable: the file cannot be reached, or its pages are damaged. */
export type Loss = { reason: string } | { damage: TrellisError };

/** Phase that users see, by state. */
const phases: Readonly<Record<LifecycleState, DatabaseStatus['phase']>> = {
  opening: 'opening',
  replaying: 'replaying',
  serving: 'serving',
  reopening: 'opening',
  lost: 'lost',
  stopping: 'stopping',
  closed: 'stopping',
};

export class Lifecycle {
  #state: LifecycleState = 'opening';
  #loss: Loss | undefined;
  /** Progress of opening in percent, 0 to 100. */
  progress = 0;

  is(state: LifecycleState): boolean {
    return this.#state === state;
  }

  /** Phase that users see. A lost database is `lost` while it stops, too. */
  get phase(): DatabaseStatus['phase'] {
    return this.isLost ? 'lost' : phases[this.#state];
  }

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** Why the data file can no longer be reached, or undefined. */
  get lostReason(): string | undefined {
    return this.#loss && 'reason' in this.#loss ? this.#loss.reason : undefined;
  }

  get isStopping(): boolean {
    return this.#state === 'stopping' || this.#state === 'closed';
  }

  /** Applies an event that needs no data. */
  apply(event: Exclude<LifecycleEvent, 'lose'>): void {
    this.#apply(event);
  }

  /**
   * Records that the data are no longer usable. Returns false if that was known already. An unreachable file
   * replaces damage as the reason.
   */
  lose(loss: Loss): boolean {
    if (this.lostReason !== undefined || (this.isLost && 'damage' in loss)) return false;
    this.#loss = loss;
    this.#apply('lose');
    return true;
  }

  #apply(event: LifecycleEvent): void {
    const next = transitions[this.#state][event];
    assert(next !== undefined, `a database that is ${this.#state} cannot ${event}`);
    this.#state = next;
  }

  /** Fails STORAGE_LOST, DATA_CORRUPT, SHUTTING_DOWN or NOT_READY unless the database serves. */
  checkServing(): void {
    if (this.#state === 'serving') return;
    if (this.#loss !== undefined) {
      if ('damage' in this.#loss) throw this.#loss.damage;
      fail('STORAGE_LOST', { what: this.#loss.reason });
    }
    if (this.isStopping) fail('SHUTTING_DOWN');
    fail('NOT_READY', { phase: phases[this.#state], progress: Math.floor(this.progress) });
  }
}
