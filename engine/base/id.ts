// UUIDs: parsing, printing, and the ascending UUIDv7 generator of the writer (RFC 9562, section 5.7
// and 6.2).
const hex = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));

const nibble = new Int8Array(128).fill(-1);
for (let i = 0; i < 10; i++) nibble[48 + i] = i;
for (let i = 0; i < 6; i++) nibble[65 + i] = nibble[97 + i] = 10 + i;

const bytePositions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Returns the 16 bytes of a canonical UUID text (8-4-4-4-12, either letter case), or undefined for
 * any other text.
 */
export function parseUuid(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(16);
  return readUuid(text, bytes) ? bytes : undefined;
}

const ignored = new Uint8Array(16);

/** Returns the text in lower case, or undefined if it is not a UUID. */
export function canonicalUuid(text: string): string | undefined {
  if (!readUuid(text, ignored)) return undefined;
  // Lower-casing would copy the text even if nothing changes.
  for (let i = 0; i < 36; i++)
    if (text.charCodeAt(i) < 97 && text.charCodeAt(i) > 64) return text.toLowerCase();
  return text;
}

function readUuid(text: string, bytes: Uint8Array): boolean {
  if (text.length !== 36) return false;
  for (let at = 8; at <= 23; at += 5) if (text.charCodeAt(at) !== 45) return false;
  for (let i = 0; i < 16; i++) {
    const at = bytePositions[i]!;
    const high = nibble[text.charCodeAt(at)] ?? -1;
    const low = nibble[text.charCodeAt(at + 1)] ?? -1;
    if (high < 0 || low < 0) return false;
    bytes[i] = (high << 4) | low;
  }
  return true;
}

/** Returns the lower-case hyphenated text of the 16 bytes at `offset`. */
export function printUuid(bytes: Uint8Array, offset = 0): string {
  let text = '';
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += hex[bytes[offset + i]!];
  }
  return text;
}

/**
 * Generates UUIDv7 ids that ascend with creation, across restarts and clocks that step back. The
 * time never falls below that of `last`. Within one millisecond a 42-bit counter rises from a
 * random start.
 */
export class UuidGenerator {
  #milliseconds = 0;
  #counter = 0;

  /** `last` is the newest stored id, if there is one; `random` returns values in [0, 1). */
  constructor(
    last: Uint8Array | undefined,
    private readonly random: () => number = Math.random,
    /** Restricts the generator to ids of this shard. */
    private readonly shard?: ShardIndex,
  ) {
    if (last === undefined) return;
    for (let i = 0; i < 6; i++) this.#milliseconds = this.#milliseconds * 256 + last[i]!;
    this.#counter = ((last[6]! & 15) * 256 + last[7]!) * 2 ** 30 + this.#low(last) + 1;
  }

  #low(bytes: Uint8Array): number {
    return (bytes[8]! & 63) * 2 ** 24 + bytes[9]! * 2 ** 16 + bytes[10]! * 2 ** 8 + bytes[11]!;
  }

  /** Returns the next id; `now` is Unix time in milliseconds. */
  next(now: number): Uint8Array {
    const bytes = new Uint8Array(16);
    this.write(bytes, 0, now);
    return bytes;
  }

  /** Writes the next id to `bytes` at `at`, without allocating an array. */
  write(bytes: Uint8Array, at: number, now: number): void {
    const time = Math.floor(now);
    if (time > this.#milliseconds) {
      this.#milliseconds = time;
      this.#counter = Math.floor(this.random() * 2 ** 30);
    } else if (++this.#counter >= 2 ** 42) {
      this.#milliseconds++;
      this.#counter = 0;
    }
    const upper = Math.floor(this.#milliseconds / 2 ** 32);
    const lower = this.#milliseconds >>> 0;
    bytes[at] = upper >>> 8;
    bytes[at + 1] = upper;
    bytes[at + 2] = lower >>> 24;
    bytes[at + 3] = lower >>> 16;
    bytes[at + 4] = lower >>> 8;
    bytes[at + 5] = lower;
    const high = Math.floor(this.#counter / 2 ** 30);
    const low = this.#counter & (2 ** 30 - 1);
    bytes[at + 6] = 0x70 | (high >> 8);
    bytes[at + 7] = high & 255;
    bytes[at + 8] = 0x80 | (low >>> 24);
    bytes[at + 9] = (low >>> 16) & 255;
    bytes[at + 10] = (low >>> 8) & 255;
    bytes[at + 11] = low & 255;
    do {
      const tail = Math.floor(this.random() * 2 ** 32);
      for (let i = 0; i < 4; i++) bytes[at + 12 + i] = (tail >>> (8 * i)) & 255;
    } while (this.shard !== undefined && !this.#isOf(this.shard, bytes.subarray(at)));
  }

  #isOf({ at, of }: ShardIndex, id: Uint8Array): boolean {
    return computeShard(id, of) === at;
  }
}

/** The shard that holds an element. The id of the element alone decides it, permanently. */
export interface ShardIndex {
  /** Index of the shard, counted from 0. */
  at: number;
  of: number;
}

/** Returns the shard of an id: FNV-1a over its 16 bytes, modulo the number of shards. */
export function computeShard(uuid: Uint8Array, of: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < 16; i++) hash = Math.imul(hash ^ uuid[i]!, 0x01000193);
  // The low bits of a product depend only on the low bits of its factors.
  return ((hash ^ (hash >>> 15)) >>> 0) % of;
}
