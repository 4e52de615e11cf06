// Frees memory when bodies or answers exceed a limit. Callers that hold more than half of the limit lose
// theirs first. Invariant: a thread ends only exchanges of connections that it owns. Other threads end theirs
// at their next check.
import type { ByteShares, Holding } from './byte-shares.js';
import type { Exchange } from './exchange.js';
import { type Receiver, guarded } from './transport.js';

/**
 * Above the limit by this factor, every caller can lose a body or answer. Below it, callers within their
 * share wait until others have freed memory.
 */
const aboveBound = 1.25;

/** An exchange whose body is buffered while it arrives. */
interface KeptBody extends Exchange {
  heldBody: Holding | undefined;
}

/**
 * Counts body bytes to their caller. Refuses the request and returns false if the caller exceeds its share.
 */
export function holdBody(
  exchange: KeptBody,
  bytes: number,
  shares: ByteShares,
  receiver: Receiver,
): boolean {
  exchange.heldBody ??= shares.holding('bodies', exchange);
  const refusal = exchange.heldBody.refusalOfBody(bytes);
  if (refusal === undefined) exchange.heldBody.hold(bytes);
  else receiver.refuse(exchange, refusal);
  return refusal === undefined;
}

export interface BodyRoom {
  receiver: Receiver;
  shares: ByteShares;
  /** Exchanges with buffered bodies on this thread, the latest last. */
  receiving: Iterable<KeptBody>;
  /** Buffered body bytes of all threads together. */
  total: () => number;
  most: number;
}

/** Refuses bodies of callers above their share, the latest first, until the total is within the limit. */
export function makeBodyRoom({ receiver, receiving, total, most }: BodyRoom): void {
  if (total() <= most) return;
  for (const exchange of [...receiving].reverse()) {
    const excess = exchange.heldBody?.excess;
    if (excess !== undefined) guarded(receiver, exchange, () => receiver.refuse(exchange, excess));
    if (total() <= most) return;
  }
}

/** Runs after a piece of a body was buffered. Frees memory, or refuses the body. */
export function boundBodies(exchange: KeptBody, room: BodyRoom): void {
  const { receiver, shares, total, most } = room;
  if (total() <= most) return;
  makeBodyRoom(room);
  const all = total();
  if (exchange.settled || all <= most) return;
  // The bodies above a share are on another thread, which frees them soon.
  const isDue = exchange.heldBody?.isOver !== true && shares.isAnyOver('bodies');
  if (isDue && all <= most * aboveBound) return;
  receiver.refuse(exchange, { code: 'OVERLOADED', args: { queue: 'The body buffer' } });
}

interface UnreadAnswer {
  readonly heldAnswer: Holding | undefined;
  /** Closes the connection of the answer. */
  close(): void;
}

interface AnswerRoom {
  shares: ByteShares;
  /** Unread answers of this thread, the longest idle first. */
  unread: Iterable<UnreadAnswer>;
  /** Buffered answer bytes of all threads together. */
  total: () => number;
  most: number;
}

/**
 * Closes connections whose clients do not read, until the total is within the limit. Callers above their
 * share are first.
 */
export function makeAnswerRoom({ shares, unread, total, most }: AnswerRoom): void {
  if (total() <= most) return;
  for (const answer of unread) {
    if (answer.heldAnswer?.isOver === true) answer.close();
    if (total() <= most) return;
  }
  if (total() <= most * aboveBound && shares.isAnyOver('answers')) return;
  for (const answer of unread) {
    if (total() <= most) return;
    answer.close();
  }
}
