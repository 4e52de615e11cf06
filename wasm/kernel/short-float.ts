// Floats of 16 bits: the upper half of a 32-bit float (bfloat16). They have its range and 8 significant bits.
// The terms of estimates and the distances of edges are stored so, because their own error is larger.

/** Infinity: the term of an absent edge. */
export const SHORT_INFINITY: u16 = 0x7f80;

/** Rounds to the nearest short float, ties to even. */
// @ts-ignore: decorator
@inline
export function toShort(value: f32): u16 {
  const bits = reinterpret<u32>(value);
  return <u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// @ts-ignore: decorator
@inline
export function fromShort(value: u16): f32 {
  return reinterpret<f32>((<u32>value) << 16);
}

/** Returns the lower four of eight short floats. */
// @ts-ignore: decorator
@inline
export function lowerShorts(values: v128): v128 {
  return v128.shuffle<i16>(i32x4.splat(0), values, 0, 8, 1, 9, 2, 10, 3, 11);
}

/** Returns the upper four of eight short floats. */
// @ts-ignore: decorator
@inline
export function upperShorts(values: v128): v128 {
  return v128.shuffle<i16>(i32x4.splat(0), values, 4, 12, 5, 13, 6, 14, 7, 15);
}
