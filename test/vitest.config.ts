// Test runner configuration. Long runs scale the same tests up (TRELLIS_TEST_LONG=1).
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const long = process.env.TRELLIS_TEST_LONG === '1';

/** Tests that start servers take longest though their files are short: they go first. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      /\/(conformance|crash|load|reliability|server)\//.test(moduleId) ? 0 : 1;
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/summary.ts'],
    pool: 'forks',
    // One more than there are processors to count on: many tests wait for servers and clocks.
    poolOptions: { forks: { maxForks: 3, minForks: 1 } },
    sequence: { sequencer: SlowFirst },
    testTimeout: long ? 3_600_000 : 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
