// Tests of whole clusters: mostly they wait, so two files run at a time, the longest first. What they measure
// needs the processors for itself, and is judged in the long run, where they run one after another. Those
// with log servers, or an S3 store, are left out where run.mjs names none.
import { defineConfig } from 'vitest/config';
import { compiled, compiledModules } from '../support/compiled-modules.js';
import { root } from '../support/project.js';
import { filesFirst } from '../support/run/files-first.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const forks = long ? 1 : 2;
/** A minute and more each. */
const longest = /\/real\/(nemesis|jetstream|crash|power)\.test\.ts$/;

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
    poolOptions: { forks: { maxForks: forks, minForks: forks } },
    sequence: { sequencer: filesFirst([longest]) },
    testTimeout: long ? 7_200_000 : 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 40_000 } },
  },
});
