// Figures a test measures: how long something took, what it cost. Their bounds are promises for a
// quiet machine. The ordinary run has no quiet machine: other files run beside it, and others still
// beside those. There a figure may be `slack` times its bound, which what is slower by a class (another
// order of growth, a copy for each call, a wait that only a deadline ends) is all the same.
import { expect } from 'vitest';

/** Whether this run scales the tests up, on a machine that does nothing else. */
const isLong = process.env.TRELLIS_TEST_LONG === '1';

const slack = 20;

/** What a figure has to stay under in this run. */
export const boundOf = (bound: number): number => (isLong ? bound : slack * bound);

/**
 * Fails if `value` is not below `bound`, in the same unit. Reports a value that is only acceptable
 * because of other load.
 */
export function expectFigure(value: number, bound: number, name: string): void {
  if (value >= bound && !isLong)
    process.stderr.write(`${name}: ${value.toFixed(3)} of ${bound}, beside other work
`);
  expect(value, name).toBeLessThan(boundOf(bound));
}
