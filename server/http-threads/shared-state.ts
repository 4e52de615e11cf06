// Two words in shared memory that every HTTP thread reads before it answers a request. The main thread
// writes them.
// Invariant: the main thread changes a word before it reports the change to anyone, so no HTTP thread
// answers by an outdated state.
//
//   word 0   1 while queries are answered; otherwise the main thread answers with the reason
//   word 1   version of the current list of keys
export class SharedState {
  readonly #words: Int32Array;

  constructor(readonly buffer = new SharedArrayBuffer(8)) {
    this.#words = new Int32Array(buffer);
  }

  get isOpen(): boolean {
    return Atomics.load(this.#words, 0) === 1;
  }

  set isOpen(isOpen: boolean) {
    Atomics.store(this.#words, 0, isOpen ? 1 : 0);
  }

  get keysVersion(): number {
    return Atomics.load(this.#words, 1);
  }

  /**
   * Counts a change of the keys and returns the new version. HTTP threads stop using their copy of the
   * list.
   */
  countKeys(): number {
    return Atomics.add(this.#words, 1, 1) + 1;
  }
}
