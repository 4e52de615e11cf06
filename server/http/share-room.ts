// Makes room where bodies or answers are too many bytes: first whoever has more than half gives some (access.md 8).
// Invariant: only what this thread holds is ended here; what another thread holds, that one ends when it looks next.
import type { ByteShares, Holding } from './byte-shares.js';
import type { Exchange } from './exchange.js';
import { type Receiver, guarded } from './transport.js';

/** Of the bound, what others may take above it until the room is made for which they have a right. */
const aboveBound = 1.25;

/** A body that is kept while it comes. */
interface KeptBody extends Exchange {
  heldBody: Holding | undefined;
}

/** Counts bytes of a body to its caller. Returns false if that is beyond the caller's share: the request is refused. */
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
  /** Those that are kept on this thread, the latest last. */
  receiving: Iterable<KeptBody>;
  /** Of all threads. */
  total: () => number;
  most: number;
}

/** Turns away what came last of whoever holds more than half, while there is too much of all. */
export function makeBodyRoom({ receiver, receiving, total, most }: BodyRoom): void {
  if (total() <= most) return;
  for (const exchange of [...receiving].reverse()) {
    const excess = exchange.heldBody?.excess;
    if (excess !== undefined) guarded(receiver, exchange, () => receiver.refuse(exchange, excess));
    if (total() <= most) return;
  }
}

/** After a piece of a body was kept: makes room, or refuses that body. */
export function boundBodies(exchange: KeptBody, room: BodyRoom): void {
  const { receiver, shares, total, most } = room;
  if (total() <= most) return;
  makeBodyRoom(room);
  const all = total();
  if (exchange.settled || all <= most) return;
  // Whoever has too much has it on another thread, which makes room soon.
  const isDue = exchange.heldBody?.isOver !== true && shares.isAnyOver('bodies');
  if (isDue && all <= most * aboveBound) return;
  receiver.refuse(exchange, { code: 'OVERLOADED', args: { queue: 'The body buffer' } });
}

interface UnreadAnswer {
  readonly heldAnswer: Holding | undefined;
  /** Ends its connection. */
  close(): void;
}

interface AnswerRoom {
  shares: ByteShares;
  /** Those of this thread, the longest idle first. */
  unread: Iterable<UnreadAnswer>;
  /** Of all threads. */
  total: () => number;
  most: number;
}

/** Ends connections whose clients do not read, while too much is kept: first of those who have more than half. */
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
