// Well-formedness of UTF-8, as The Unicode Standard defines it (chapter 3, table 3-7).

/**
 * Returns the length in bytes of the sequence at `at` (2 to 4; its lead byte is >= 0x80), or 0 if it is not
 * well-formed.
 */
export function utf8Length(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  const second = bytes[at + 1]!;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return isTail(second) ? 2 : 0;
  // The second byte reveals overlong forms, encoded surrogates and code points above U+10FFFF.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (!(second >= low && second <= high) || !isTail(bytes[at + 2]!)) return 0;
  if (lead < 0xf0) return 3;
  return isTail(bytes[at + 3]!) ? 4 : 0;
}

function isTail(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
