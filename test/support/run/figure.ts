// Checks figures that a test measures, such as times and costs. Their bounds are for an idle machine. During
// an ordinary run, other test files run at the same time. A figure may then be `slack` times its bound. That
// still detects a defect of another class: another order of growth, a copy for each call, or a wait that only
// a deadline ends.
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
