// [compat] Prints floats like HelixDB 2: an integral value has a fraction, `5.0`. Stored fragments have none,
// so that the same data serve both settings.
import type { ByteWriter } from '../../base/bytes.js';
import { numberText } from '../../storage/record/fragment.js';

export function printFraction(out: ByteWriter, value: number): void {
  const text = numberText(value);
  out.ascii(text);
  if (Number.isInteger(value) && !text.includes('e')) out.ascii('.0');
}

/** Copies a stored fragment of floats. Each number without fraction or exponent gets a fraction. */
export function appendFractions(
  out: ByteWriter,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  for (let from = start; from < end; from++) {
    let at = from;
    let isNumber = false;
    let isWhole = true;
    for (; at < end && !isBetween(bytes[at]!); at++) {
      const byte = bytes[at]!;
      if (byte >= 48 && byte <= 57) isNumber = true;
      else if (byte === 46 || byte === 101) isWhole = false;
    }
    out.append(bytes, from, at);
    if (isNumber && isWhole) out.ascii('.0');
    if (at < end) out.byte(bytes[at]!);
    from = at;
  }
}

/** `[`, `,` or `]`. */
const isBetween = (byte: number): boolean => byte === 91 || byte === 44 || byte === 93;
