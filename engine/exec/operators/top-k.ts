// Keeps the best k of a stream in order: a bounded binary heap with its worst entry on top (Williams 1964).
// Equal entries keep their order of arrival.

interface Entry<T> {
  item: T;
  arrival: number;
}

export class TopK<T> {
  readonly #heap: Entry<T>[] = [];
  #arrivals = 0;

  /** `compare` returns a negative number when its first argument comes first. */
  constructor(
    private readonly k: number,
    private readonly compare: (a: T, b: T) => number,
  ) {}

  #after(a: Entry<T>, b: Entry<T>): boolean {
    const order = this.compare(a.item, b.item);
    return order !== 0 ? order > 0 : a.arrival > b.arrival;
  }

  /** Adds the item if it is among the best so far. Returns true when the number of kept items grew. */
  offer(item: T): boolean {
    const entry = { item, arrival: this.#arrivals++ };
    const heap = this.#heap;
    if (heap.length < this.k) {
      heap.push(entry);
      this.#rise(heap.length - 1);
      return true;
    }
    if (this.k > 0 && this.#after(heap[0]!, entry)) {
      heap[0] = entry;
      this.#sink(0);
    }
    return false;
  }

  #rise(at: number): void {
    const heap = this.#heap;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#after(heap[at]!, heap[parent]!)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  #sink(at: number): void {
    const heap = this.#heap;
    for (;;) {
      let last = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && this.#after(heap[child]!, heap[last]!)) last = child;
      if (last === at) return;
      [heap[at], heap[last]] = [heap[last]!, heap[at]!];
      at = last;
    }
  }

  /** The last of the kept items. Undefined while fewer than k are kept. */
  get worst(): T | undefined {
    return this.#heap.length < this.k ? undefined : this.#heap[0]?.item;
  }

  /** Returns the kept items, best first. */
  sorted(): T[] {
    return this.#heap.sort((a, b) => (this.#after(a, b) ? 1 : -1)).map((entry) => entry.item);
  }
}
