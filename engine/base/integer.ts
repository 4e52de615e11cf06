// Ranges of the integer types, and exact parsing of digit strings.
import type { ScalarName } from './schema.js';

const signed = (bits: bigint) => ({ min: -(1n << (bits - 1n)), max: (1n << (bits - 1n)) - 1n });
const unsigned = (bits: bigint) => ({ min: 0n, max: (1n << bits) - 1n });

/** Inclusive bounds of every integer type. */
export const integerRange: Partial<Record<ScalarName, { min: bigint; max: bigint }>> = {
  I8: signed(8n),
  I16: signed(16n),
  I32: signed(32n),
  I64: signed(64n),
  U8: unsigned(8n),
  U16: unsigned(16n),
  U32: unsigned(32n),
  U64: unsigned(64n),
  U128: unsigned(128n),
};

/**
 * Bounds as numbers, because comparisons with bigints are slow: inclusive minimum and
 * exclusive maximum. An exclusive maximum is a power of two, which a double represents exactly.
 */
const doubleRange = new Map(
  Object.entries(integerRange).map(([type, { min, max }]) => {
    return [type, { from: Number(min), below: Number(max + 1n) }];
  }),
);

/**
 * Returns a number if it is a safe integer, otherwise the bigint. Every integer value has this
 * representation in memory.
 */
export function compactInteger(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

/** Parses `[-]digits` of at most 40 digits exactly. The caller must reject longer texts. */
export function parseInteger(text: string): number | bigint {
  if (text.length <= 15) return Number(text) + 0;
  return compactInteger(BigInt(text));
}

/** Returns true if an integer value (number or bigint) fits the type. */
export function integerFits(value: number | bigint, type: ScalarName): boolean {
  if (typeof value === 'number') {
    const doubles = doubleRange.get(type);
    return doubles !== undefined && value >= doubles.from && value < doubles.below;
  }
  const range = integerRange[type];
  return range !== undefined && value >= range.min && value <= range.max;
}
