// 32-bit floats in memory: the shortest decimal that names the float (value.ts), so that 0.1 comes
// back as 0.1.

/** Smallest normal 32-bit float. */
const normalMin = 2 ** -126;

/** Largest finite 32-bit float. */
export const float32Max = 3.4028234663852886e38;

/**
 * The shortest decimal among those nearest to the same 32-bit float as `value`; infinite when that
 * overflows.
 */
export function toFloat32(value: number): number {
  const nearest = Math.fround(value);
  if (nearest === value && Number.isInteger(value) && Math.abs(value) < 2 ** 24) return value;
  if (!Number.isFinite(nearest)) return nearest;
  // Nine digits always tell 32-bit floats apart; most need fewer. Less than six only matter below
  // the normal floats, where neighbours are far from each other.
  const fewest = Math.abs(nearest) < normalMin ? 1 : 6;
  for (let digits = fewest; digits < 9; digits++) {
    const candidate = Number(nearest.toPrecision(digits));
    if (Math.fround(candidate) === nearest) return candidate;
  }
  return Number(nearest.toPrecision(9));
}
