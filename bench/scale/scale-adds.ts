// What one writer waits for, of `scale`: vectors added one after another, each durable before the next; then the
// same while one snapshot of the index after another is written. The first figures on a server that has just started.
import { requestBytes, sendHttp } from '../support/http-client.js';
import { randomOf } from '../support/seeded-random.js';
import type { VectorShape } from '../support/vector-data.js';
import { vectorOf } from './scale-data.js';
import { type Started, post } from './scale-server.js';

const alone = 500;
/**
 * Minimum number of snapshots, and minimum duration in ms, of the measurement with concurrent adds.
 */
const snapshotsMin = 2;
const besideMs = 3_000;
/** No writer is faster than this. */
const addsPerSecond = 2_000;

/** By name: p50 in us, p99 and the longest in ms, seconds of a snapshot. */
export async function addFigures(server: Started, shape: VectorShape): Promise<[string, number][]> {
  const draw = vectorOf(shape);
  const random = randomOf(23);
  const adds = (count: number): Buffer[] =>
    Array.from({ length: count }, () => requestBytes('add', JSON.stringify({ vec: draw(random) })));
  const snapshotMs = async (): Promise<number> => {
    const began = performance.now();
    await post(server, '_admin/snapshot');
    return performance.now() - began;
  };

  const first = await sendHttp(server.url, adds(alone), { connections: 1 });
  const once = await snapshotMs();
  const seconds = Math.max(besideMs, snapshotsMin * once) / 1000;
  const requests = adds(Math.ceil(seconds * addsPerSecond));
  let isOver = false;
  let [snapshots, spent] = [0, 0];
  const writing = (async () => {
    for (; !isOver; snapshots++) spent += await snapshotMs();
  })();
  const beside = await sendHttp(server.url, requests, { connections: 1, seconds });
  isOver = true;
  await writing;
  if (first.failed + beside.failed > 0) throw new Error('adding vectors failed');
  return [
    ['durable add, us', first.p50],
    ['its p99, ms', first.p99 / 1000],
    ['during snapshots, us', beside.p50],
    ['p99 during snapshots, ms', beside.p99 / 1000],
    ['longest during snapshots, ms', beside.longest / 1000],
    ['snapshot, s', once / 1000],
    ['snapshot during adds, s', spent / snapshots / 1000],
  ];
}
