// Tracks how fresh the shards of a scattered type must be for one request, and the position of each shard
// that answered. Invariant: if a shard reports several positions, the furthest counts.
import type { ClusterPosition, ShardReading } from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import { keyOf } from './forward.js';
import { type ShardPositions, noteShard, parsePositions } from '../read/consistency-token.js';

export class ShardReads implements ShardReading {
  readonly mode: string;
  /** Position of the main database in the request's token. */
  readonly main: ClusterPosition | undefined;
  readonly #after: ShardPositions;

  /** Fails PARAM_VALUE if the token of the request is invalid. */
  constructor(
    private readonly exchange: Exchange,
    mode: string,
    private readonly isReported: boolean,
  ) {
    this.mode = mode;
    const { main, shards } = parsePositions(exchange.after);
    this.main = main;
    this.#after = shards;
  }

  get key(): Record<string, string> {
    return keyOf(this.exchange);
  }

  after(shard: string): ClusterPosition | undefined {
    return this.#after.get(shard);
  }

  answered(shard: string, at: ClusterPosition): void {
    if (this.isReported) noteShard(this.exchange, shard, at);
  }
}
