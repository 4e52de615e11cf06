// Watches the heap of this thread. A thread whose heap is full is ended by V8 from outside: nothing of its
// own runs any more, its connections stay open, and Node ends a process with a loop that has open handles.
// So a thread that has connections gives up while it still can. Invariant: it gives up once.
import { getHeapSpaceStatistics } from 'node:v8';
import { resourceLimits } from 'node:worker_threads';

/** Much less than it takes to fill what is left, by requests of the size that fronts answer. */
const pollIntervalMs = 50;
/** Of the most that V8 gives to a thread. */
const shareMax = 0.7;

/** Bytes of what has outlived its youth: that alone is bounded, and the end of the thread. */
function oldBytes(): number {
  let sum = 0;
  for (const { space_name: name, space_used_size: used } of getHeapSpaceStatistics()) {
    if (!name.startsWith('new_') && !name.startsWith('read_only')) sum += used;
  }
  return sum;
}

export function guardHeap(giveUp: (why: string) => void): void {
  const most = (resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY) * 2 ** 20;
  const timer = setInterval(() => {
    const used = oldBytes();
    if (used < most * shareMax) return;
    clearInterval(timer);
    giveUp(`its heap is nearly full: ${used} of ${most} bytes`);
  }, pollIntervalMs);
  timer.unref();
}
