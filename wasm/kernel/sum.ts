// Sums over the lanes of a vector register.

// @ts-ignore: decorator
@inline
export function sumFloats(v: v128): f32 {
  const low = f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1);
  return low + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3));
}

// @ts-ignore: decorator
@inline
export function sumIntegers(v: v128): i32 {
  const low = i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1);
  return low + (i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3));
}
