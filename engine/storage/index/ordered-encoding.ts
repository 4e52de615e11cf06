// Encodes values as bytes that sort like the values (helixql.md 6.4), for the keys of property indexes.
//
//   Boolean          0 or 1
//   I8..I64, U8..    big-endian in the width of the type, sign bit flipped
//   F32, F64         IEEE double, big-endian; negative: all bits flipped, else the sign bit; -0 is 0
//   Date             seconds since the year 1, 5 bytes · microseconds, 3 bytes
//   ID               the 16 bytes
//   String           UTF-8, each 00 as 00 FF · end 00 01
//   list             per item 02 · value (03 for null) · end 01
//
// Invariant: the end of an encoding is part of it, so no encoding is a prefix of another one of the same
// type.
import { assert } from '../../base/assert.js';
import type { ByteWriter } from '../../base/bytes.js';
import { toFloat32 } from '../../base/float.js';
import { integerFits } from '../../base/integer.js';
import { parseUuid } from '../../base/id.js';
import type { PropertyType, ScalarName } from '../../base/schema.js';
import type { Instant, Scalar, ScalarList, Uuid } from '../../base/value.js';

const secondsOfYearOne = 62_135_596_800;

/** Bytes of an integer type, and whether it is signed. */
const widths: Partial<Record<ScalarName, { size: number; signed: boolean }>> = {
  I8: { size: 1, signed: true },
  I16: { size: 2, signed: true },
  I32: { size: 4, signed: true },
  I64: { size: 8, signed: true },
  U8: { size: 1, signed: false },
  U16: { size: 2, signed: false },
  U32: { size: 4, signed: false },
  U64: { size: 8, signed: false },
  U128: { size: 16, signed: false },
};

/** Appends the ordered encoding of a value of the given type. */
export function writeOrdered(
  writer: ByteWriter,
  value: Scalar | ScalarList,
  type: PropertyType,
): void {
  if (type.kind === 'scalar') {
    writeScalar(writer, value as Scalar, type.name);
    return;
  }
  const items = value as ScalarList;
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as Scalar | ScalarList;
    writer.byte(item === null ? 3 : 2);
    if (item !== null) writeOrdered(writer, item, type.of);
  }
  writer.byte(1);
}

function writeScalar(writer: ByteWriter, value: Scalar, name: ScalarName): void {
  if (widths[name]) writeInteger(writer, value as number | bigint, name);
  else if (name === 'String') writeText(writer, value as string);
  else if (name === 'F64') writeDouble(writer, Number(value));
  else if (name === 'F32') writeDouble(writer, toFloat32(Number(value)));
  else if (name === 'Boolean') writer.byte(value ? 1 : 0);
  else if (name === 'Date') writeDate(writer, value as Instant);
  else {
    const bytes = parseUuid((value as Uuid).text);
    assert(bytes, 'an ID is a uuid');
    writer.append(bytes);
  }
}

function writeInteger(writer: ByteWriter, value: number | bigint, name: ScalarName): void {
  const { size, signed } = widths[name]!;
  if (typeof value === 'number' && size <= 8) {
    assert(integerFits(value, name), 'an integer fits its type');
    writeWords(writer, value, size, signed);
    return;
  }
  const shifted = BigInt(value) + (signed ? 1n << BigInt(8 * size - 1) : 0n);
  assert(shifted >= 0n && shifted < 1n << BigInt(8 * size), 'an integer fits its type');
  writer.reserve(size);
  let rest = shifted;
  for (let at = writer.length + size - 1; at >= writer.length; at--) {
    writer.bytes[at] = Number(rest & 255n);
    rest >>= 8n;
  }
  writer.length += size;
}

/** Writes an integer of up to 64 bits that a double represents exactly: much faster than through a bigint. */
function writeWords(writer: ByteWriter, value: number, size: number, signed: boolean): void {
  writer.reserve(size);
  const { bytes, length } = writer;
  // For a double, too, these are the words of its two's complement.
  let low = value | 0;
  const high = Math.floor(value / 2 ** 32) | 0;
  for (let at = length + size - 1; at >= length; at--) {
    bytes[at] = low;
    low = length + size - at === 4 ? high : low >>> 8;
  }
  if (signed) bytes[length]! ^= 128;
  writer.length += size;
}

const double = new DataView(new ArrayBuffer(8));

function writeDouble(writer: ByteWriter, value: number): void {
  // Adding zero turns -0 into 0.
  double.setFloat64(0, value + 0);
  const isNegative = double.getUint8(0) >= 128;
  for (let i = 0; i < 8; i++) {
    const byte = double.getUint8(i);
    writer.byte(isNegative ? ~byte & 255 : i === 0 ? byte | 128 : byte);
  }
}

function writeDate(writer: ByteWriter, { seconds, micros }: Instant): void {
  const shifted = seconds + secondsOfYearOne;
  for (let shift = 4; shift >= 0; shift--) writer.byte(Math.floor(shifted / 256 ** shift) & 255);
  writer.byte(micros >>> 16);
  writer.byte((micros >>> 8) & 255);
  writer.byte(micros & 255);
}

function writeText(writer: ByteWriter, text: string): void {
  if (text.includes('\0')) {
    for (const part of text.split(/(\0)/)) {
      if (part === '\0') {
        writer.byte(0);
        writer.byte(255);
      } else writer.utf8(part);
    }
  } else writer.utf8(text);
  writer.byte(0);
  writer.byte(1);
}
