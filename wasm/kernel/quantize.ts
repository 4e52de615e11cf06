// Rounds coordinates to codes.
import { Header } from './header';

/** Returns the largest absolute value of P floats. */
export function widest(at: usize): f32 {
  const end = at + (Header.padded() << 2);
  let largest = f32x4.splat(0);
  for (; at < end; at += 16) largest = f32x4.max(largest, f32x4.abs(v128.load(at)));
  return max(
    max(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
    max(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
  );
}

/** Returns the factor that converts coordinates to steps; 0 if the step is practically 0. */
// @ts-ignore: decorator
@inline
export function inverseOf(step: f32): f32 {
  return step > 1e-35 ? 1 / step : 0;
}

// @ts-ignore: decorator
@inline
export function scaled(at: usize, factor: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(at), factor)));
}

/** Returns the squared error of four coordinates that `codes` represent. */
// @ts-ignore: decorator
@inline
export function missed(at: usize, codes: v128, step: v128): v128 {
  const error = f32x4.sub(v128.load(at), f32x4.mul(step, f32x4.convert_i32x4_s(codes)));
  return f32x4.mul(error, error);
}
