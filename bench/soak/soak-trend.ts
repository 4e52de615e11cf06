// The line that fits values taken at equal intervals best, and how sure its slope is.

export interface Trend {
  mean: number;
  /** Growth per unit of time. */
  slope: number;
  /** Standard error of the slope. A growth below twice this cannot be distinguished from chance. */
  error: number;
}

/** `time`: from the first value to the last. */
export function trendOf(values: readonly number[], time: number): Trend {
  const count = values.length;
  const mean = values.reduce((a, b) => a + b, 0) / count;
  const step = time / Math.max(1, count - 1);
  const at = (i: number): number => (i - (count - 1) / 2) * step;
  const spread = values.reduce((sum, _, i) => sum + at(i) ** 2, 0);
  const slope = values.reduce((sum, value, i) => sum + at(i) * (value - mean), 0) / spread;
  const rest = values.reduce((sum, value, i) => sum + (value - mean - slope * at(i)) ** 2, 0);
  return { mean, slope, error: Math.sqrt(rest / Math.max(1, count - 2) / spread) };
}
