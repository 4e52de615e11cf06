// Computes exact similarities of vectors in 64-bit floats. The index only proposes hits; every score and
// distance in a reply is computed here.
// Invariant: the results are finite. The numbers of vectors are finite 32-bit floats, so sums of their
// squares stay below 1e82.
import type { Metric } from '../../vector/index.js';

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function squaredDistance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = a[i]! - b[i]!;
    sum += difference * difference;
  }
  return sum;
}

/** Below this value, squares lose digits, or become zero. */
const tiny = 1e-280;

/**
 * Scales a vector so that its largest number is 1. Returns zeros when it is zero in 32 bits, as in the index.
 */
function enlarged(vector: Float64Array): Float64Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  return vector.map((value) => (Math.fround(largest) === 0 ? 0 : value / largest));
}

/** Returns the cosine in [-1, 1]; NaN when a vector is too small to compute it. */
function cosine(a: Float64Array, b: Float64Array): number {
  let product = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i]!;
    const y = b[i]!;
    product += x * y;
    aa += x * x;
    bb += y * y;
  }
  if (aa < tiny || bb < tiny) return Number.NaN;
  return Math.max(-1, Math.min(1, product / (Math.sqrt(aa) * Math.sqrt(bb))));
}

/** From this cosine on, 1 - cosine loses too many digits to define an order. */
const nearly = 0.999;
/** Half the square of the rounding error between parallel vectors, with a margin. */
const parallel = 1e-30;

/**
 * Returns 1 - cosine for vectors in nearly the same direction: half the squared difference of the directions.
 */
function narrowAngle(a: Float64Array, b: Float64Array): number {
  const [p, q] = [Math.sqrt(dot(a, a)), Math.sqrt(dot(b, b))];
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i]! / p - b[i]! / q) ** 2;
  return sum / 2 < parallel ? 0 : sum / 2;
}

/**
 * Largest 1 - cosine of one vector and a copy of it when both were rounded to 32 bits. Each rounding turns a
 * vector by at most 2^-24 radians, and 1 - cos(x) is at most x^2 / 2.
 */
const rounded = 2 ** -47;

/** Returns true if two vectors are the same vector in 32 bits, also where these lose digits. */
function isSame(a: Float64Array, b: Float64Array): boolean {
  for (let i = 0; i < a.length; i++) if (Math.fround(a[i]!) !== Math.fround(b[i]!)) return false;
  return true;
}

/** A stored vector finds itself with score 1, although the sums of its cosine are rounded. */
function turned(score: number, a: Float64Array, b: Float64Array) {
  if (score <= nearly) return { score, distance: 1 - score };
  const distance = narrowAngle(a, b);
  if (distance <= rounded) return { score: 1, distance };
  return isSame(a, b) ? { score: 1, distance: 0 } : { score, distance };
}

/** Like `cosine`, for scaled vectors. Only the zero vector is too small now, and it has no direction. */
function angle(a: Float64Array, b: Float64Array): { score: number; distance: number } {
  const score = cosine(a, b);
  return Number.isNaN(score) ? { score: 0, distance: 1 } : turned(score, a, b);
}

/** Returns the score (higher is better) and the distance of two vectors of equal length. */
export function similarity(
  metric: Metric,
  a: Float64Array,
  b: Float64Array,
): { score: number; distance: number } {
  switch (metric) {
    case 'cosine': {
      const score = cosine(a, b);
      return Number.isNaN(score) ? angle(enlarged(a), enlarged(b)) : turned(score, a, b);
    }
    case 'dot': {
      const score = dot(a, b);
      return { score, distance: 0 - score };
    }
    case 'l2': {
      const distance = squaredDistance(a, b);
      return { score: 1 / (1 + distance), distance };
    }
  }
}
