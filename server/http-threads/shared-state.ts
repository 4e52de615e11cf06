// Two words that all fronts look at before they answer by themselves. Invariant: the main thread changes
// a word before it says to anybody that what stands behind it has changed, so that no front answers by
// what holds no more.
//
//   word 0   1 while queries are answered; else the main thread says why not
//   word 1   version of the list of keys in force
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

  /** The keys in force have changed: no front judges by those it knows. */
  countKeys(): number {
    return Atomics.add(this.#words, 1, 1) + 1;
  }
}
