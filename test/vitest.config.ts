// Test runner configuration. Long runs scale the same tests up (TRELLIS_TEST_LONG=1).
import { defineConfig } from 'vitest/config';

const long = process.env.TRELLIS_TEST_LONG === '1';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    poolOptions: { forks: { maxForks: 2, minForks: 1 } },
    testTimeout: long ? 3_600_000 : 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
