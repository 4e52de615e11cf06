// A thread of the vector bench: searches an index over and over, or helps to build it, until word 0
// of `words` is set. Words: 0 stop, 1 searches done; as the second f64, this thread's CPU time in
// seconds.
import { existsSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { IndexHandle } from '../../engine/vector/index.js';
import { attachVectorIndex } from '../../engine/vector/shared-index.js';

export interface ThreadTask {
  handle: IndexHandle;
  task: 'search' | 'help';
  words: Int32Array;
  queries: Float64Array[];
  width: number;
}

const { handle, task, words, queries, width } = workerData as ThreadTask;
const index = attachVectorIndex(handle);
const seconds = new Float64Array(words.buffer);
const clock = '/proc/thread-self/schedstat';
const hasClock = existsSync(clock);
parentPort!.postMessage('ready');
while (Atomics.load(words, 0) === 0) {
  if (task === 'help') {
    index.helpBuild(1);
    continue;
  }
  for (const query of queries) index.search(query, 10, { ef: width });
  Atomics.add(words, 1, queries.length);
  if (hasClock) seconds[1] = Number(readFileSync(clock, 'utf8').split(' ')[0]) / 1e9;
}
index.close();
