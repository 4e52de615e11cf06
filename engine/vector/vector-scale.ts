// Sizes of vectors. A segment works in 32-bit floats on squares and products of what it holds, so it
// takes vectors of like size: its scale, a power of two, brings its first one that is not zero to
// about 2^32, and whatever is a million times as long or as short goes into another segment. Under
// cosine only directions count, and each vector has a factor of its own.
import type { Metric } from './index.js';

/** Exponents of what a segment's scale makes of its first vector, and how far others may be off. */
const middle = 32;
const reach = 20;
/** Greatest exponent of a query: its squared distances stay finite. */
const queryMax = 56;
/** Exponents whose squares, summed up, are far from the ends of 32-bit floats. */
const ordinary = 40;

/** The exponent of the greatest number; undefined for a zero vector. */
export function exponentOf(vector: ArrayLike<number>): number | undefined {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) {
    const size = Math.abs(vector[i]!);
    if (size > largest) largest = size;
  }
  return largest === 0 ? undefined : Math.floor(Math.log2(largest));
}

/** The scale of a segment whose first vector has this exponent. */
export const scaleFor = (exponent: number): number => 2 ** (middle - exponent);

/** Whether a segment of a scale, 0 as long as it holds only zero vectors, takes a vector. */
export function acceptsScale(metric: Metric, scale: number, exponent: number | undefined): boolean {
  if (metric === 'cosine' || scale === 0 || exponent === undefined) return true;
  return Math.abs(exponent + Math.log2(scale) - middle) <= reach;
}

/** What the numbers of a vector that is to be stored are multiplied by. */
export function storedFactor(metric: Metric, scale: number, exponent: number | undefined): number {
  return metric === 'cosine' ? directionFactor(exponent) : scale || 1;
}

/** What the numbers of a query are multiplied by. */
export function queryFactor(metric: Metric, scale: number, exponent: number | undefined): number {
  if (metric !== 'l2') return directionFactor(exponent);
  return Math.min(scale || 1, 2 ** (queryMax - (exponent ?? 0)));
}

function directionFactor(exponent: number | undefined): number {
  return exponent === undefined || Math.abs(exponent) <= ordinary ? 1 : 2 ** -exponent;
}

/** What a segment's distances are multiplied by to be those of another's. */
export function distanceUnit(metric: Metric, scale: number, factor: number): number {
  if (metric === 'cosine') return 1;
  return metric === 'dot' ? 1 / (scale || 1) : 1 / factor ** 2;
}
