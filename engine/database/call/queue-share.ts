// How much of a queue one caller may hold: half, while others are there (access.md 8). A caller who is alone may fill
// all of it; who comes then is given the place of what came last of theirs. Invariant: what is turned away was never
// sent, and has changed nothing.
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

/** Why a call of that caller cannot be taken, or undefined; `full`: there is no room for anybody. */
export function refusalOf<T extends Queued>(
  queue: FairQueue<T>,
  caller: Whose | undefined,
  { calls, bytes }: QueueBounds,
  full: ErrorData,
  what: string,
): ErrorData | undefined {
  const half = { calls: calls / 2, bytes: bytes / 2 };
  // Asked for every call: as long as half is free nobody is over.
  if (queue.length < half.calls && queue.bytes < half.bytes) return undefined;
  const name = nameOf(caller);
  const mine = queue.waitingOf(name);
  const isOver = mine.calls >= half.calls || mine.bytes >= half.bytes;
  if (isOver && !queue.isAlone(name, performance.now())) return exceeded(mine.calls, what);
  if (queue.length < calls && queue.bytes < bytes) return undefined;
  return !isOver && queue.isAnyOver(half.calls, half.bytes) ? undefined : full;
}

/** Turns away what came last of whoever holds more than half, until one more has room. */
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
