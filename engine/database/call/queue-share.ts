// Limits the share of a queue that one caller may hold: half of it while other callers are active. A single
// caller may fill the whole queue; when another caller comes, the newest calls of the first are refused to
// make space.
// Invariant: a refused call was never sent and has changed nothing.
import { type ErrorData, TrellisError } from '../../base/errors.js';
import { type Whose, nameOf } from './call.js';
import type { FairQueue, Queued } from './fair-queue.js';

export interface QueueBounds {
  calls: number;
  bytes: number;
}

const exceeded = (count: number, what: string): ErrorData => {
  return { code: 'SHARE_EXCEEDED', args: { count, what } };
};

/**
 * Returns why a call of that caller cannot be accepted, or undefined. `full` is the error when the queue is
 * full for all callers.
 */
export function refusalOf<T extends Queued>(
  queue: FairQueue<T>,
  caller: Whose | undefined,
  { calls, bytes }: QueueBounds,
  full: ErrorData,
  what: string,
): ErrorData | undefined {
  const half = { calls: calls / 2, bytes: bytes / 2 };
  // Fast path for every call: while half is free, no caller is over its share.
  if (queue.length < half.calls && queue.bytes < half.bytes) return undefined;
  const name = nameOf(caller);
  const mine = queue.waitingOf(name);
  const isOver = mine.calls >= half.calls || mine.bytes >= half.bytes;
  if (isOver && !queue.isOnlyCaller(name, performance.now())) return exceeded(mine.calls, what);
  if (queue.length < calls && queue.bytes < bytes) return undefined;
  return !isOver && queue.isAnyOver(half.calls, half.bytes) ? undefined : full;
}

/** Refuses the newest calls of a caller that holds more than half, until one more call fits. */
export function makeRoom<T extends Queued & { reject(error: TrellisError): void }>(
  queue: FairQueue<T>,
  { calls, bytes }: QueueBounds,
  what: string,
): void {
  while (queue.length >= calls || queue.bytes >= bytes) {
    const by = queue.length >= calls ? 'calls' : 'bytes';
    const item = queue.takeBack(by, (by === 'calls' ? calls : bytes) / 2);
    if (item === undefined) return;
    if (item.settled) continue;
    item.settled = true;
    item.reject(new TrellisError(exceeded(queue.waitingOf(item.caller).calls, what)));
  }
}
