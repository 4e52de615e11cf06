// A long time (T13): mixed work on data that stay the same in number, after a while of it at full
// speed; memory, file, descriptors, places of readers and latency must not grow.
// TRELLIS_TEST_MINUTES says how long (5 in the long run); a growth counts when it is twice as large
// as its standard error. Resident memory is judged where there is time for it: for ten minutes V8's
// heaps, the allocator and the map of the file warm up. What is retained after collections is judged
// always.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { soak, soakSource } from '../../bench/soak/soak-work.js';
import { type Trend, trendOf } from '../../bench/soak/soak-trend.js';
import { makeFolder, removeFolder, root } from '../support/project.js';
import { noteProof } from '../support/proof.js';
import { startServer } from '../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const minutes = Number(process.env.TRELLIS_TEST_MINUTES ?? 5);
/** The first third is left out of every trend: from here on it has the ten minutes of warming up. */
const residentFrom = 30;
/** Bytes: no object is smaller. Whoever leaves one behind with each call grows by more. */
const leastObject = 16;

/** Growth that is certain. */
const growth = ({ slope, error }: Trend): number => Math.max(0, slope - 2 * error);

/** By how much the heap of each thread grew with every call, after the first third. */
function retainedPerCall(path: string, calls: number): number[] {
  const threads = new Map<number, number[]>();
  for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const { thread, bytes } = JSON.parse(line) as { thread: number; bytes: number };
    threads.set(thread, [...(threads.get(thread) ?? []), bytes]);
  }
  return [...threads.values()].map((heap) => {
    const left = heap.slice(heap.length / 3);
    return growth(trendOf(left, (calls * left.length) / heap.length));
  });
}

test('T13 canary: a trend that is there is seen, noise is not one', () => {
  const noise = (i: number): number => ((i * 7919) % 13) - 6;
  const flat = Array.from({ length: 40 }, (_, i) => 100 + noise(i));
  expect(growth(trendOf(flat, 1))).toBe(0);
  expect(
    growth(
      trendOf(
        flat.map((value, i) => value + i),
        1,
      ),
    ),
  ).toBeGreaterThan(20);
});

test.runIf(long)(
  `T13 ${minutes} minutes of mixed work leave nothing`,
  async () => {
    const config = { 'storage.ballast': 0, 'storage.min_free': 0 };
    const folder = makeFolder();
    const log = join(folder, 'retained');
    const collector = pathToFileURL(join(root, 'test/reliability/support/retained.mjs'));
    const env = { TEST_RETAINED: log, NODE_OPTIONS: `--import ${collector}` };
    const sources = { 'main.hx': soakSource };
    const server = await startServer({ sources, config, workers: 2, env });
    const options = { minutes, rate: 200, persons: 2_000, dimension: 64 };
    const report = await soak(`http://127.0.0.1:${server.port}`, options);
    expect(report.failed).toBe(0);
    expect(await server.client.post('count')).toEqual({ p: options.persons });
    await server.dispose();
    const retained = retainedPerCall(log, report.calls);
    removeFolder(folder);
    const { rss, file, descriptors, readers, p99, samples } = report;
    const printed = [
      `RSS ${rss.mean.toFixed(0)} MB, ${rss.slope.toFixed(1)} +- ${(rss.error * 2).toFixed(1)} MB/h`,
      `retained heap + ${retained.map((bytes) => bytes.toFixed(1)).join(', ')} bytes a call by thread`,
      `file ${samples.at(-1)!.file.toFixed(1)} MB, ${(file.slope * 100).toFixed(1)} %`,
      `${samples.at(-1)!.descriptors} descriptors, ${samples.at(-1)!.readers} readers`,
      `p99 ${(samples.at(-1)!.p99 / 1000).toFixed(1)} ms, ${(p99.slope * 100).toFixed(0)} %`,
    ].join('; ');
    noteProof('T13', `${minutes} min, ${report.calls} calls: ${printed}`);
    expect(retained.length, printed).toBeGreaterThanOrEqual(4);
    expect(Math.max(...retained), printed).toBeLessThan(leastObject);
    const course = samples.map((sample) => sample.rss.toFixed(1)).join(' ');
    if (minutes >= residentFrom) expect(growth(rss), `${printed}; MB ${course}`).toBeLessThan(1);
    expect(growth(file), printed).toBeLessThan(0.1);
    expect(growth(descriptors), printed).toBeLessThan(0.05);
    expect(growth(readers), printed).toBeLessThan(0.05);
    expect(growth(p99), printed).toBeLessThan(0.2);
  },
  minutes * 120_000 + 120_000,
);
