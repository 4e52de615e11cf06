// The policy for clients that send or read slowly. Frees memory when bodies or answers exceed a limit. Callers
// that hold more than half of the limit lose theirs first. Invariant: a thread ends only exchanges of
// connections that it owns. Other threads end theirs at their next check.
import type { ByteShares, Holding } from './byte-shares.js';
import type { Exchange } from './exchange.js';
import { type TransportCounts, type TransportOptions, guarded } from './transport.js';

/**
 * Above the limit by this factor, every caller can lose a body or answer. Below it, callers within their
 * share wait until others have freed memory.
 */
const aboveBound = 1.25;

/** An exchange whose body is buffered while it arrives. */
interface BufferedBody extends Exchange {
  heldBody: Holding | undefined;
}

interface UnreadAnswer {
  readonly heldAnswer: Holding | undefined;
  /** Closes the connection of the answer. */
  close(): void;
}

export interface SlowClients {
  readonly options: Pick<TransportOptions, 'receiver' | 'limits'>;
  readonly shares: ByteShares;
  /** Exchanges with buffered bodies on this thread, the latest last. */
  readonly receiving: Iterable<BufferedBody>;
  /** Exchanges with unread answers on this thread, the longest idle first. */
  readonly unread: Iterable<UnreadAnswer>;
  /** Value of a counter over all threads. */
  total(name: keyof TransportCounts): number;
}

export class SlowClientPolicy {
  constructor(private readonly clients: SlowClients) {}

  /**
   * Counts body bytes to their caller. Refuses the request and returns false if the caller exceeds its share.
   */
  holdBody(exchange: BufferedBody, bytes: number): boolean {
    const { shares, options } = this.clients;
    exchange.heldBody ??= shares.holding('bodies', exchange);
    const refusal = exchange.heldBody.refusalOfBody(bytes);
    if (refusal === undefined) exchange.heldBody.hold(bytes);
    else options.receiver.refuse(exchange, refusal);
    return refusal === undefined;
  }

  /** Refuses bodies of callers above their share, the latest first, until the total is within the limit. */
  refuseBodies(): void {
    if (!this.#hasExcessBodies()) return;
    const { receiver } = this.clients.options;
    for (const exchange of [...this.clients.receiving].reverse()) {
      const excess = exchange.heldBody?.excess;
      if (excess !== undefined) {
        guarded(receiver, exchange, () => receiver.refuse(exchange, excess));
      }
      if (!this.#hasExcessBodies()) return;
    }
  }

  /** Whether all threads together buffer more body bytes than `factor` times the limit. */
  #hasExcessBodies(factor = 1): boolean {
    const { clients } = this;
    const max = clients.options.limits.buffered_body_bytes;
    return clients.total('bufferedBodyBytes') > max * factor;
  }

  /** Runs after a piece of a body was buffered. Frees memory, or refuses the body. */
  boundBodies(exchange: BufferedBody): void {
    if (!this.#hasExcessBodies()) return;
    this.refuseBodies();
    if (exchange.settled || !this.#hasExcessBodies()) return;
    const { shares, options } = this.clients;
    // The bodies above a share are on another thread, which frees them soon.
    const isDue = exchange.heldBody?.isOver !== true && shares.isAnyOver('bodies');
    if (isDue && !this.#hasExcessBodies(aboveBound)) return;
    options.receiver.refuse(exchange, { code: 'OVERLOADED', args: { queue: 'The body buffer' } });
  }

  #hasExcessAnswers(factor = 1): boolean {
    const { clients } = this;
    const max = clients.options.limits.buffered_response_bytes;
    return clients.total('bufferedResponseBytes') > max * factor;
  }

  /**
   * Closes connections whose clients do not read, until the total is within the limit. Callers above their
   * share are first.
   */
  closeNonReaders(): void {
    if (!this.#hasExcessAnswers()) return;
    const { shares, unread } = this.clients;
    for (const answer of unread) {
      if (answer.heldAnswer?.isOver === true) answer.close();
      if (!this.#hasExcessAnswers()) return;
    }
    if (!this.#hasExcessAnswers(aboveBound) && shares.isAnyOver('answers')) return;
    for (const answer of unread) {
      if (!this.#hasExcessAnswers()) return;
      answer.close();
    }
  }
}
