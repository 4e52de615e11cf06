// Test runner configuration. Long runs scale the same tests up (TRELLIS_TEST_LONG=1).
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compiled, compiledModules } from './support/compiled-modules.js';
import { root } from './support/project.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

/**
 * Which files begin first. Of the long run those that take ten minutes and more: none is left alone
 * at the end. Then those that start servers, which take longest though they are short.
 */
const first = [
  ...(long
    ? [
        /\/schema\/(migration|emptied)\.test\.ts$/,
        /\/reliability\/(model|soak|disk\/damaged-part)\.test\.ts$/,
        /\/(lang\/fuzz|lsp\/lsp)\.test\.ts$/,
      ]
    : []),
  /\/(conformance|crash|docs|load|reliability|server|vector)\//,
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = first.findIndex((some) => some.test(moduleId));
      return place < 0 ? first.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** What their figures are held to takes a machine that does nothing else: in the long run they come last. */
const measured = [
  'contract/speed',
  'embed/embedder',
  'explorer/neighbours',
  'mcp/cancel',
  'reliability/disk/{long-reader,small-disk}',
  'reliability/network/{connections,overload,sessions}',
  'server/command/repl',
  'server/metrics',
  'vector/background-snapshot',
].map((name) => `test/${name}.test.ts`);
const every = ['test/**/*.test.ts'];
/** Whole clusters have a command of their own (test/cluster/run.mjs). */
const exclude = ['test/cluster/{nodes,real}/**'];

/** A part of the long run, which begins when all of an earlier order are done. */
function part(name: string, groupOrder: number, files: object, isAlone: boolean) {
  const poolOptions = { forks: { singleFork: isAlone, isolate: false } };
  return {
    extends: true as const,
    test: { name, ...files, poolOptions, sequence: { groupOrder } },
  };
}

export default defineConfig({
  plugins: [compiledModules(!process.argv.includes('run'))],
  test: {
    root,
    ...(long ? {} : { include: every, exclude }),
    projects: long
      ? [
          part('work', 0, { include: every, exclude: [...exclude, ...measured] }, false),
          part('figures', 1, { include: measured, exclude }, true),
        ]
      : undefined,
    server: { deps: { external: [compiled] } },
    globalSetup: ['test/support/run/summary.ts'],
    setupFiles: ['test/support/run/file-end.ts'],
    pool: 'forks',
    // One more than there are processors to count on: many tests wait for servers and clocks.
    // Files share the processes and the modules these have loaded, as calls share a server: loading
    // them for each file costs more than most files do. The pool ends a process twice, and fails,
    // where it may have fewer of them when all is done: hence as many at least as at most.
    poolOptions: { forks: { maxForks: 3, minForks: 3, isolate: false } },
    sequence: { sequencer: SlowFirst },
    // Long, since a machine may do other work: what never comes fails all the same.
    testTimeout: long ? 3_600_000 : 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 40_000 } },
    reporters: ['default'],
  },
});
