// Watches the heap of an HTTP thread. V8 terminates a thread whose heap is full: its handlers do not run,
// its connections stay open, and Node aborts the process because the event loop has open handles. So the
// thread ends itself before.
// Invariant: `giveUp` is called at most once.
import { getHeapSpaceStatistics } from 'node:v8';
import { resourceLimits } from 'node:worker_threads';

/** Much shorter than the time in which short reads could fill the rest of the heap. */
const pollIntervalMs = 50;
/** Used share of the heap limit of the thread at which it gives up. */
const shareMax = 0.7;

/** Returns the bytes of the old generation. Only this part of the heap has a limit that ends the thread. */
function oldBytes(): number {
  let sum = 0;
  for (const { space_name: name, space_used_size: used } of getHeapSpaceStatistics()) {
    if (!name.startsWith('new_') && !name.startsWith('read_only')) sum += used;
  }
  return sum;
}

export function guardHeap(giveUp: (why: string) => void): void {
  const max = (resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY) * 2 ** 20;
  const timer = setInterval(() => {
    const used = oldBytes();
    if (used < max * shareMax) return;
    clearInterval(timer);
    giveUp(`its heap is nearly full: ${used} of ${max} bytes`);
  }, pollIntervalMs);
  timer.unref();
}
