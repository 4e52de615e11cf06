// Test runner configuration. Long runs scale the same tests up (TRELLIS_TEST_LONG=1).
import { defineConfig } from 'vitest/config';
import { compiled, compiledModules } from './support/compiled-modules.js';
import { root } from './support/project.js';
import { filesFirst } from './support/run/files-first.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
/** Which part of the long run this is (test/support/run/long.mjs); both where it is not said. */
const part = process.env.TRELLIS_TEST_PART;

/**
 * Which files begin first. Of the long run those that take five minutes and more: none is left alone
 * at the end. Then those that start servers, which take longest though they are short.
 */
const first = [
  ...(long
    ? [
        /\/(schema\/migration|reliability\/model)\.test\.ts$/,
        // Those that wait most, beside what reckons.
        /\/reliability\/(soak|disk\/power-loss|network\/sessions)\.test\.ts$/,
        /\/contract\/keep-alive\.test\.ts$/,
        /\/(schema\/emptied|lang\/(fuzz|sentence)|lsp\/lsp)\.test\.ts$/,
        /\/(exec\/oracle|storage\/damage)\.test\.ts$/,
      ]
    : []),
  /\/(conformance|crash|docs|load|reliability|server|vector)\//,
];

/**
 * What their figures are held to takes a machine that does nothing else: in the long run they come
 * last, one by one.
 */
const measured = [
  'contract/speed',
  'embed/embedder',
  'explorer/neighbours',
  'mcp/{cancel,speed}',
  'reliability/disk/{long-reader,small-disk}',
  'reliability/network/{connections,overload}',
  'server/command/repl',
  'deploy/install',
  'server/metrics',
  'vector/background-snapshot',
].map((name) => `test/${name}.test.ts`);
/**
 * Two more than there are processors to count on: many tests wait for servers and clocks. In the long
 * run, where most reckon, one more.
 */
const forks = long ? 3 : 4;
/** Whole clusters have a command of their own (test/cluster/run.mjs). */
const clusters = ['test/cluster/{nodes,real}/**'];

export default defineConfig({
  plugins: [compiledModules(!process.argv.includes('run'))],
  test: {
    root,
    include: part === 'figures' ? measured : ['test/**/*.test.ts'],
    exclude: part === 'work' ? [...clusters, ...measured] : clusters,
    server: { deps: { external: [compiled] } },
    globalSetup: ['test/support/run/summary.ts'],
    setupFiles: ['test/support/run/file-end.ts'],
    pool: 'forks',
    // Files share the processes and the modules these have loaded, as calls share a server: loading
    // them for each file costs more than most files do. The pool ends a process twice, and fails,
    // where it may have fewer of them when all is done: hence as many at least as at most.
    poolOptions: {
      forks: { maxForks: forks, minForks: forks, singleFork: part === 'figures', isolate: false },
    },
    sequence: { sequencer: filesFirst(first) },
    // Long, because the machine may do other work. No test sets a shorter limit (test/file-names.test.ts).
    testTimeout: long ? 3_600_000 : 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 40_000 } },
    reporters: ['default'],
  },
});
