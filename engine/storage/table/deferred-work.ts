// What the requests of one group leave for the end of their transaction, where it is done once for
// all of them (keyword postings: the documents of a group share most of their terms).
//
// Invariant: what is done for earlier requests is not noted in the change log, so that undoing the
// request at hand leaves it alone; it is done before that request changes derived data itself.
import type { Env } from './env.js';

export interface DerivedStore {
  getDerived(key: Uint8Array): Uint8Array | undefined;
  /** `former`: a private copy of what the caller has just read under the key, if it has. */
  putDerived(key: Uint8Array, value: Uint8Array, former?: Uint8Array): void;
  deleteDerived(key: Uint8Array, former?: Uint8Array): void;
}

/** Work that waits; its owner decides what it is. */
export interface DeferredTask {
  /** A request begins: what comes from here on is its own. */
  begin(): void;
  /** Forgets what the request at hand left. */
  undo(): void;
  /** Does what earlier requests left. */
  settleEarlier(group: DerivedStore): void;
  /** Does what the request at hand left. */
  settleOwn(own: DerivedStore): void;
}

export class DeferredWork {
  /**
   * Work for earlier requests has failed. What is done of it cannot be undone alone, nor told whose it
   * was: the transaction must not be committed.
   */
  hasFailed = false;
  #work: DeferredTask | undefined;
  readonly #direct: DerivedStore;

  constructor({ derived }: Env) {
    this.#direct = {
      getDerived: (key) => derived.get(key),
      putDerived: (key, value) => derived.put(key, value),
      deleteDerived: (key) => void derived.remove(key),
    };
  }

  /** What waits, made when nothing has yet. There is one kind of it. */
  waiting<T extends DeferredTask>(make: () => T): T {
    this.#work ??= make();
    return this.#work as T;
  }

  begin(): void {
    this.#work?.begin();
  }

  undo(): void {
    this.#work?.undo();
  }

  /** Everything that waits is done; `own` is where the request at hand writes. */
  flushDeferred(own: DerivedStore): void {
    this.#settleEarlier();
    this.#work?.settleOwn(own);
  }

  /** The requests are over. */
  finish(): void {
    this.#work?.begin();
    this.#settleEarlier();
  }

  #settleEarlier(): void {
    try {
      this.#work?.settleEarlier(this.#direct);
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }
}
