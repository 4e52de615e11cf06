// Distances of stored (rotated, full) vectors: the exact step of every search. Results are ordered by the
// metric: cosine 2 - 2 cos, dot -(inner product), l2 squared distance. Never NaN, never infinite.
import { METRIC_COSINE } from '../layout';
import { Header } from './header';
import { Scratch } from './scratch-fields';
import { sumFloats } from './sum';
import { Node } from './node';

const LARGEST: f32 = 3.4e38;

/** Returns the inner product of P floats. */
export function dotFloats(x: usize, y: usize): f32 {
  const end = x + (Header.padded() << 2);
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  let c = f32x4.splat(0);
  let d = f32x4.splat(0);
  do {
    a = f32x4.add(a, f32x4.mul(v128.load(x), v128.load(y)));
    b = f32x4.add(b, f32x4.mul(v128.load(x, 16), v128.load(y, 16)));
    c = f32x4.add(c, f32x4.mul(v128.load(x, 32), v128.load(y, 32)));
    d = f32x4.add(d, f32x4.mul(v128.load(x, 48), v128.load(y, 48)));
    x += 64; y += 64;
  } while (x < end);
  return sumFloats(f32x4.add(f32x4.add(a, b), f32x4.add(c, d)));
}

/** Returns the squared L2 distance of P floats. */
export function squareFloats(x: usize, y: usize): f32 {
  const end = x + (Header.padded() << 2);
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  let c = f32x4.splat(0);
  let d = f32x4.splat(0);
  do {
    let v = f32x4.sub(v128.load(x), v128.load(y));
    a = f32x4.add(a, f32x4.mul(v, v));
    v = f32x4.sub(v128.load(x, 16), v128.load(y, 16));
    b = f32x4.add(b, f32x4.mul(v, v));
    v = f32x4.sub(v128.load(x, 32), v128.load(y, 32));
    c = f32x4.add(c, f32x4.mul(v, v));
    v = f32x4.sub(v128.load(x, 48), v128.load(y, 48));
    d = f32x4.add(d, f32x4.mul(v, v));
    x += 64; y += 64;
  } while (x < end);
  return sumFloats(f32x4.add(f32x4.add(a, b), f32x4.add(c, d)));
}

// @ts-ignore: decorator
@inline
function finite(value: f32): f32 {
  // The comparison is false for NaN too.
  return abs(value) < LARGEST ? value : value < 0 ? -LARGEST : LARGEST;
}

/**
 * Returns the distance of the rotated query and the vector of `node` at address `vector`, by the metric.
 * Cosines are computed from differences too: 2 - 2 cos would cancel between near vectors.
 */
export function vectorDistance(scratch: usize, node: usize, vector: usize): f32 {
  const query = Scratch.rotated(scratch);
  const metric = Header.metric();
  if (Scratch.weight(scratch) == 0) return finite(-dotFloats(query, vector));
  if (metric == METRIC_COSINE && isAnyZero(scratch, node)) return 2;
  return finite(squareFloats(query, vector));
}

/** Whether one of them is a zero vector, which is at a right angle to all vectors. */
// @ts-ignore: decorator
@inline
function isAnyZero(scratch: usize, node: usize): bool {
  return Scratch.norm(scratch) == 0 || Node.norm(node) == 0;
}
