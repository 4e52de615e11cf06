// A thread of the concurrency tests: searches, or helps to build, on the compiled index until it
// is told to stop.
import { parentPort, workerData } from 'node:worker_threads';

const { attachVectorIndex } = await import(workerData.module);
const { handle, stop, task, queries } = workerData;
const index = attachVectorIndex(handle);
const state = { searches: 0, faults: [] };
const stopped = () => Atomics.load(stop, 0) !== 0;

parentPort.on('message', (fresh) => index.addMemory(fresh));
parentPort.postMessage('ready');

if (task === 'help') {
  while (!stopped()) {
    index.helpBuild();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
while (!stopped()) {
  for (const query of queries) {
    const found = index.search(query, 10);
    state.searches++;
    if (index.count > 100 && found.count !== 10) state.faults.push(`count ${found.count}`);
    for (let i = 0; i < found.count; i++) {
      if (!(found.ids[i] > 0 && found.ids[i] < 1e6)) state.faults.push(`id ${found.ids[i]}`);
      if (!(found.distances[i] >= 0)) state.faults.push(`distance ${found.distances[i]}`);
      if (i > 0 && found.distances[i] < found.distances[i - 1]) state.faults.push('order');
    }
    if (state.faults.length > 10) Atomics.store(stop, 0, 1);
  }
  await new Promise((resolve) => setImmediate(resolve));
}
index.close();
parentPort.postMessage(state);
parentPort.close();
