// Scale factors of vectors. A segment computes squares and products in 32-bit floats, so it takes vectors of
// similar magnitude. Its scale, a power of two, brings its first nonzero vector to about 2^32. A vector that
// is a million times longer or shorter goes into another segment. Under cosine only directions matter, and
// each vector has a separate factor.
import type { Metric } from './index.js';

/**
 * Exponent to which the scale brings a segment's first vector, and how far other vectors may deviate from it.
 */
const middle = 32;
const deviationMax = 20;
/** Largest exponent of a query: its squared distances stay finite. */
const queryMax = 56;
/** Exponents whose sums of squares are far from the limits of 32-bit floats. */
const ordinary = 40;

/** Returns the exponent of the largest coordinate; undefined for a zero vector. */
export function exponentOf(vector: ArrayLike<number>): number | undefined {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) {
    const size = Math.abs(vector[i]!);
    if (size > largest) largest = size;
  }
  return largest === 0 ? undefined : Math.floor(Math.log2(largest));
}

/** Returns the scale of a segment whose first vector has this exponent. */
export const scaleFor = (exponent: number): number => 2 ** (middle - exponent);

/** Whether a segment accepts a vector. `scale`: 0 while it contains only zero vectors. */
export function acceptsScale(metric: Metric, scale: number, exponent: number | undefined): boolean {
  if (metric === 'cosine' || scale === 0 || exponent === undefined) return true;
  return Math.abs(exponent + Math.log2(scale) - middle) <= deviationMax;
}

/** Returns the factor for the numbers of a vector to store. */
export function storedFactor(metric: Metric, scale: number, exponent: number | undefined): number {
  return metric === 'cosine' ? directionFactor(exponent) : scale || 1;
}

/** Returns the factor for the numbers of a query. */
export function queryFactor(metric: Metric, scale: number, exponent: number | undefined): number {
  if (metric !== 'l2') return directionFactor(exponent);
  return Math.min(scale || 1, 2 ** (queryMax - (exponent ?? 0)));
}

function directionFactor(exponent: number | undefined): number {
  return exponent === undefined || Math.abs(exponent) <= ordinary ? 1 : 2 ** -exponent;
}

/** Returns the factor that makes a segment's distances comparable with those of other segments. */
export function distanceUnit(metric: Metric, scale: number, factor: number): number {
  if (metric === 'cosine') return 1;
  return metric === 'dot' ? 1 / (scale || 1) : 1 / factor ** 2;
}
