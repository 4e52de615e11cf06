// Hints, one bit per element, that tell which elements had no edges when a load last checked. A load writes
// the first edges of such an element without looking for older ones. Only elements that were created since
// the store was opened have a hint.
//
// A hint may be wrong after other writes or an undone transaction: it selects which way is tried first, never
// what is written.

export class NoEdgesHint {
  readonly #bits = new Map<number, Uint8Array>();

  /** `first`: the first id that is not in use. */
  constructor(private readonly first: number) {}

  /** Returns the bits of one direction and label, with capacity up to `lastId`. */
  bitsFor(direction: 'in' | 'out', label: number, lastId: number): HintBits {
    const key = 2 * label + (direction === 'out' ? 0 : 1);
    const needed = Math.max(0, lastId - this.first + 8) >>> 3;
    let bits = this.#bits.get(key) ?? new Uint8Array(1024);
    if (needed > bits.length) {
      const longer = new Uint8Array(2 * needed);
      longer.set(bits);
      bits = longer;
    }
    this.#bits.set(key, bits);
    return new HintBits(bits, this.first);
  }
}

export class HintBits {
  constructor(
    private readonly bits: Uint8Array,
    private readonly first: number,
  ) {}

  /** Returns whether the element seems to have no edges, and marks it as having some. */
  take(id: number): boolean {
    const at = id - this.first;
    if (at < 0) return false;
    const mask = 1 << (at & 7);
    const byte = this.bits[at >>> 3]!;
    this.bits[at >>> 3] = byte | mask;
    return (byte & mask) === 0;
  }
}
