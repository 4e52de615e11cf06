// Rounds to 32-bit floats. In memory such a value is the shortest decimal that names the float (see
// value.ts), so that 0.1 is returned as 0.1.

/** Smallest normal 32-bit float. */
const normalMin = 2 ** -126;

/** Largest finite 32-bit float. */
export const float32Max = 3.4028234663852886e38;

/**
 * Returns the shortest decimal that rounds to the same 32-bit float as `value`, or an infinity on
 * overflow.
 */
export function toFloat32(value: number): number {
  const nearest = Math.fround(value);
  if (nearest === value && Number.isInteger(value) && Math.abs(value) < 2 ** 24) return value;
  if (!Number.isFinite(nearest)) return nearest;
  // Nine digits always identify a 32-bit float, and most need fewer. Fewer than six occur only
  // below the normal floats, where neighbors are far apart.
  const fewest = Math.abs(nearest) < normalMin ? 1 : 6;
  for (let digits = fewest; digits < 9; digits++) {
    const candidate = Number(nearest.toPrecision(digits));
    if (Math.fround(candidate) === nearest) return candidate;
  }
  return Number(nearest.toPrecision(9));
}
