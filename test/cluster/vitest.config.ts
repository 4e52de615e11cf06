// Tests of whole clusters run one file after another: what they measure and wait for needs the processors
// for itself. Those with log servers, or an S3 store, are left out where run.mjs names none.
import { defineConfig } from 'vitest/config';
import { compiled, compiledModules } from '../support/compiled-modules.js';
import { root } from '../support/project.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

export default defineConfig({
  // Threads are started from what is compiled.
  plugins: [compiledModules(false)],
  test: {
    root,
    server: { deps: { external: [compiled] } },
    include: ['test/cluster/{nodes,real}/*.test.ts'],
    exclude: [
      ...(process.env.TRELLIS_NATS_SERVER === undefined ? ['test/cluster/real/**'] : []),
      ...(process.env.TRELLIS_S3_SERVER === undefined ? ['test/cluster/real/s3*'] : []),
    ],
    globalSetup: ['test/support/run/summary.ts'],
    setupFiles: ['test/support/run/file-end.ts'],
    pool: 'forks',
    poolOptions: { forks: { maxForks: 1, minForks: 1 } },
    testTimeout: long ? 7_200_000 : 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 40_000 } },
  },
});
