// Mutated bytes: what a broken disk, a cut connection or a hostile client makes of sound ones.
import type { Random } from './random.js';

/** Pieces that parsers stumble over. */
const fragments = [
  '',
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\u0000',
  '\ufeff',
  '\\ud800',
  '1e999',
]
  .concat(['-0', 'null', '__proto__', '9'.repeat(40), '[['.repeat(40), '\u2028', '\r', ' '])
  .map((text) => Buffer.from(text));

/** Up to four changes: bits, bytes, cuts, doubled and foreign parts. */
export function mutated(sound: Uint8Array, other: Uint8Array, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(sound);
  for (let left = 1 + random.below(4); left > 0; left--) bytes = changed(bytes, other, random);
  return bytes;
}

function changed(bytes: Buffer, other: Uint8Array, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + random.below(random.below(4) === 0 ? 400 : 8));
  const join = (...parts: Uint8Array[]): Buffer => Buffer.concat(parts);
  const [before, cut, after] = [
    bytes.subarray(0, at),
    bytes.subarray(at, end),
    bytes.subarray(end),
  ];
  switch (random.below(7)) {
    case 0:
      return flipped(bytes, at, 1 << random.below(8));
    case 1:
      return flipped(bytes, at, 1 + random.below(255));
    case 2:
      return join(before, after);
    case 3:
      return join(before, cut, cut, after);
    case 4:
      return join(before, fragments[random.below(fragments.length)]!, after);
    case 5:
      return join(before, other.subarray(random.below(other.length + 1)));
    default:
      return join(before);
  }
}

function flipped(bytes: Buffer, at: number, mask: number): Buffer {
  if (at < bytes.length) bytes[at]! ^= mask;
  return bytes;
}
