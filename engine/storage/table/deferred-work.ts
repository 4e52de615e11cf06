// Work that the requests of a group defer to the end of their transaction, where it is done once for all of
// them. Example: keyword postings, because the documents of a group share most of their terms.
//
// Invariant: work for earlier requests is not recorded in the undo log, so undoing the present request does
// not undo it. It is done before the present request changes derived data itself.
import type { Env } from './env.js';

export interface DerivedStore {
  getDerived(key: Uint8Array): Uint8Array | undefined;
  /** `former`: a private copy of the value that the caller has just read under the key, if it has. */
  putDerived(key: Uint8Array, value: Uint8Array, former?: Uint8Array): void;
  deleteDerived(key: Uint8Array, former?: Uint8Array): void;
}

/** One kind of deferred work. */
export interface DeferredTask {
  /** A request begins: later additions belong to it. */
  begin(): void;
  /** Drops what the present request added. */
  undo(): void;
  /** Does the work of earlier requests. */
  flushEarlier(group: DerivedStore): void;
  /** Does the work of the present request. */
  flushOwn(own: DerivedStore): void;
}

export class DeferredWork {
  /**
   * Whether work for earlier requests has failed. It cannot be undone alone, nor assigned to one request, so
   * the transaction must not be committed.
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

  /** Returns the deferred task, created at the first call. There is only one kind of task. */
  getOrCreate<T extends DeferredTask>(make: () => T): T {
    this.#work ??= make();
    return this.#work as T;
  }

  begin(): void {
    this.#work?.begin();
  }

  undo(): void {
    this.#work?.undo();
  }

  /** Does all deferred work; `own`: where the present request writes. */
  flushDeferred(own: DerivedStore): void {
    this.#flushEarlier();
    this.#work?.flushOwn(own);
  }

  /** Does all deferred work after the last request. */
  finish(): void {
    this.#work?.begin();
    this.#flushEarlier();
  }

  #flushEarlier(): void {
    try {
      this.#work?.flushEarlier(this.#direct);
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }
}
