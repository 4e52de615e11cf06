// Which elements had no edges when a load last looked: hints, one bit an element, that let a load
// write the first edges of an element without looking for older ones. Only of elements that were
// made since the store was opened; of others nothing is known.
//
// A hint may be wrong, where single requests have written meanwhile or a transaction was undone: it
// decides which way is tried first, never what is written.

export class NoEdgesHint {
  readonly #bits = new Map<number, Uint8Array>();

  /** `first`: the first id that is not in use. */
  constructor(private readonly first: number) {}

  /** The bits of one direction under one label, with room for an element. */
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

  /** Whether the element seems to have no edges; from now on it has. */
  take(id: number): boolean {
    const at = id - this.first;
    if (at < 0) return false;
    const mask = 1 << (at & 7);
    const byte = this.bits[at >>> 3]!;
    this.bits[at >>> 3] = byte | mask;
    return (byte & mask) === 0;
  }
}
