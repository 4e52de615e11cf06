// Decodes log messages into entries. It trusts neither the order nor the bytes nor the author of a message.
// Invariant: an entry is returned only after all its parts, their signatures and its chain are verified.
// Parts that another entry follows are void and do not enter the chain.
import { crc32, inflateRawSync } from 'node:zlib';
import { fail } from '../../base/errors.js';
import { chainOf, type Position } from './chain.js';
import { type EntryKeys, checkWriter } from './entry-keys.js';
import { bodyOf, type Head, readHead, unsignedHeadOf } from './head.js';
import { deflatedFlag, entryKind } from './kind.js';

export interface Entry {
  /** One of `entryKind`, or a kind that a newer version added. */
  kind: number;
  id: Uint8Array;
  /** Unix milliseconds of the leader's clock. */
  time: number;
  body: Uint8Array;
  /** Sequence of the first part. */
  first: number;
  /** Position of the log after this entry. */
  position: Position;
}

/** Maximum bytes of an inflated body. A group of changes takes up to 512 MiB. */
const bodyMax = 1024 * 1024 * 1024;

/**
 * Byte ranges of a head in which the parts of one entry differ: part number, sequence and checksums. All
 * other bytes are equal.
 */
const ofThePart: readonly [number, number][] = [
  [6, 8],
  [16, 24],
  [56, 64],
];

function sameEntry(one: Uint8Array, other: Uint8Array): boolean {
  // Copies the heads, so that a Buffer is safe to change.
  const [a, b] = [one, other].map((bytes) => new Uint8Array(unsignedHeadOf(bytes))) as [
    Uint8Array,
    Uint8Array,
  ];
  for (const [start, end] of ofThePart) {
    a.fill(0, start, end);
    b.fill(0, start, end);
  }
  return Buffer.compare(a, b) === 0;
}

/** Decodes one log from a position on, one message at a time. */
export class EntryDecoder {
  #position: Position;
  #end: number;
  #endChain: bigint;
  #parts: Uint8Array[] = [];
  #voided = 0;

  /** `position` is the position of the last known entry. `keys` are the keys of the nodes that may write. */
  constructor(
    position: Position,
    private readonly keys?: EntryKeys,
  ) {
    this.#position = position;
    this.#end = position.seq;
    this.#endChain = position.chain;
  }

  /** Position of the last complete entry. */
  get position(): Position {
    return this.#position;
  }

  /** Sequence of the last message. The next append goes after it. */
  get end(): number {
    return this.#end;
  }

  /** Chain of the entry to which the last message belongs. */
  get endChain(): bigint {
    return this.#endChain;
  }

  /** Number of parts so far of entries that their leaders did not finish. */
  get voided(): number {
    return this.#voided;
  }

  /**
   * Takes the next message. Returns the entry that this message completes, or undefined. Fails LOG_LOST,
   * LOG_UNTRUSTED, FORMAT_TOO_NEW.
   */
  push({ seq, bytes }: { seq: number; bytes: Uint8Array }): Entry | undefined {
    if (seq !== this.#end + 1) lost(`message ${seq} follows message ${this.#end}`);
    const head = readHead(bytes, seq);
    if (head.after !== seq - 1) lost(`message ${seq} was made to follow ${head.after}`);
    if (head.crc !== crc32(bodyOf(bytes))) lost(`message ${seq} is damaged`);
    checkWriter(this.keys, bytes, head, { seq, since: this.#position.key });
    this.#checkPosition(head, bytes, seq);
    this.#end = seq;
    this.#endChain = head.chain;
    return head.part === head.parts - 1 ? this.#complete(head, seq) : undefined;
  }

  #checkPosition(head: Head, bytes: Uint8Array, seq: number): void {
    const first = this.#parts[0];
    if (head.part === 0 && !(first !== undefined && sameEntry(first, bytes))) {
      this.#voided += this.#parts.length;
      this.#parts = [];
    } else if (head.part !== this.#parts.length || !sameEntry(first!, bytes)) {
      lost(`message ${seq} is part ${head.part} of an entry without the parts before it`);
    }
    this.#parts.push(bytes);
  }

  #complete(head: Head, seq: number): Entry {
    const before = this.#position;
    const { kind, epoch, chain, key } = head;
    const inOrder =
      kind === entryKind.genesis
        ? before.seq === 0
        : kind === entryKind.epoch
          ? epoch > before.epoch
          : epoch === before.epoch;
    if (!inOrder) lost(`entry ${seq} is of epoch ${epoch}, behind one of ${before.epoch}`);
    const parts = this.#parts;
    if (chainOf(before, parts) !== chain)
      lost(`entry ${seq} does not continue the entry at ${before.seq}`);
    this.#parts = [];
    this.#position = { epoch, seq, chain, ...(key !== undefined && { key }) };
    const stored = parts.length === 1 ? bodyOf(parts[0]!) : Buffer.concat(parts.map(bodyOf));
    return {
      kind,
      id: head.id,
      time: head.time,
      body: plain((head.flags & deflatedFlag) === 0 ? stored : inflated(stored, seq)),
      first: seq - parts.length + 1,
      position: this.#position,
    };
  }
}

/** Returns a plain Uint8Array. The `slice` of a Buffer does not copy. */
const plain = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);

function inflated(stored: Uint8Array, seq: number): Uint8Array {
  try {
    return inflateRawSync(stored, { maxOutputLength: bodyMax });
  } catch {
    return lost(`the body of entry ${seq} cannot be inflated`);
  }
}

const lost = (what: string): never => fail('LOG_LOST', { what });
