// Parses runs of numbers in JSON with the compiled module, for the JSON scanner. One instance per thread,
// with a separate memory, is created on first use.
//
//   FLOAT_POWERS   5^q as 128 bits, high half first, the top bit set
//   FLOAT_INPUT    bytes to read, then zeros
//   FLOAT_ENTRIES  entries of the scanner's tape, 16 bytes each
import {
  FLOAT_ENTRIES,
  FLOAT_ENTRY_BYTES,
  FLOAT_INPUT,
  FLOAT_INPUT_MAX,
  FLOAT_POWER_MAX,
  FLOAT_POWER_MIN,
  FLOAT_POWERS,
  FLOAT_USED,
} from '../../wasm/layout.js';
import { createMemory, instantiate, type Kernel } from './wasm.js';

interface Reader {
  kernel: Kernel;
  bytes: Uint8Array;
  words: Int32Array;
}

let reader: Reader | undefined;

/** Largest number of entries that a window of input can contain: `,0` each. */
const entriesMax = FLOAT_INPUT_MAX / 2;

function openReader(): Reader {
  const memory = createMemory(FLOAT_ENTRIES + entriesMax * FLOAT_ENTRY_BYTES);
  const powers = new BigUint64Array(memory.buffer, FLOAT_POWERS);
  for (let q = FLOAT_POWER_MIN; q <= FLOAT_POWER_MAX; q++) {
    const power = powerOfFive(q);
    powers[(q - FLOAT_POWER_MIN) * 2] = power >> 64n;
    powers[(q - FLOAT_POWER_MIN) * 2 + 1] = power & 0xffff_ffff_ffff_ffffn;
  }
  const bytes = new Uint8Array(memory.buffer);
  return { kernel: instantiate(memory), bytes, words: new Int32Array(memory.buffer) };
}

/**
 * Returns the 128 leading bits of 5^q: truncated, but rounded up for -27 <= q < 0, where that makes products
 * exact (Lemire 2021, sections 5 and 8).
 */
function powerOfFive(q: number): bigint {
  const power = 5n ** BigInt(Math.abs(q));
  const length = lengthOf(power);
  if (q >= 0) return length > 128n ? power >> (length - 128n) : power << (128n - length);
  if (q >= -27) return (1n << (length + 127n)) / power + 1n;
  const inverse = (1n << (2n * length + 128n)) / power + 1n;
  return inverse >> (lengthOf(inverse) - 128n);
}

const lengthOf = (value: bigint): bigint => BigInt(value.toString(2).length);

/** The entries of a run: words of a tape, and the offset of its end in the input. */
export interface FloatRun {
  entries: Int32Array;
  end: number;
}

/**
 * Parses numbers, each after a comma, starting at `from`: at most `room`, and at most as many as one window
 * of input contains. Each becomes four words: `head` (plus `fraction` if it has a fraction or an exponent),
 * its offset, its 64-bit float. Stops before a number that it cannot parse exactly. The words are valid until
 * the next call.
 */
export function readFloats(
  bytes: Uint8Array,
  from: number,
  room: number,
  head: number,
  fraction: number,
): FloatRun {
  reader ??= openReader();
  const { kernel, bytes: memory, words } = reader;
  const length = Math.min(bytes.length - from, FLOAT_INPUT_MAX);
  memory.set(bytes.subarray(from, from + length), FLOAT_INPUT);
  memory.fill(0, FLOAT_INPUT + length, FLOAT_INPUT + length + 16);
  const count = kernel.parseFloats(length, Math.min(room, entriesMax), head, fraction, from);
  const first = FLOAT_ENTRIES >> 2;
  const entries = words.subarray(first, first + count * (FLOAT_ENTRY_BYTES >> 2));
  return { entries, end: from + words[FLOAT_USED >> 2]! };
}
