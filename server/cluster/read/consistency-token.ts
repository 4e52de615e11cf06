// Reads and prints position tokens, which the headers of requests and responses carry. The position of a node
// is `3.1027`; shards that answered add theirs by name: `3.1027,passage-0=1.44`. Invariant: a printed token
// is read back unchanged. Any other text is refused, and never taken for a lower position.
import {
  type ClusterPosition,
  excerpt,
  fail,
  isBefore,
  printPosition,
} from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';

export type ShardPositions = ReadonlyMap<string, ClusterPosition>;

/** Positions of the main or tenant database, and of its shards. */
interface Positions {
  main: ClusterPosition | undefined;
  shards: ShardPositions;
}

/** A name as `shardName` returns it, the epoch, and the sequence number. */
const form = /^(?:([a-z_][a-z0-9_]{0,50}-\d{1,4})=)?(\d{1,10})\.(\d{1,15})$/;

export const furthest = (a: ClusterPosition | undefined, b: ClusterPosition): ClusterPosition =>
  a === undefined || isBefore(a, b) ? b : a;

/** Bytes of one part without its name, while sequence numbers have at most 12 digits. */
const partBytes = 22;

/** Returns true if a token of all these shards takes at most half of a request's head. */
export const fitInHeader = (shards: readonly string[], headerBytes: number): boolean =>
  shards.reduce((sum, name) => sum + name.length + partBytes, 0) <= headerBytes / 2;

/** Records the position of a shard that answered a part of the request. */
export function noteShard(exchange: Exchange, shard: string, at: ClusterPosition): void {
  exchange.shardsAt ??= new Map();
  exchange.shardsAt.set(shard, furthest(exchange.shardsAt.get(shard), at));
}

/** Parses a token. An empty text has no positions. Fails PARAM_VALUE for an invalid token. */
export function parsePositions(text: string): Positions {
  let main: ClusterPosition | undefined;
  const shards = new Map<string, ClusterPosition>();
  for (const part of text === '' ? [] : text.split(/, ?/)) {
    const [, name, epoch, seq] = form.exec(part) ?? failNone(text);
    const at = { epoch: Number(epoch), seq: Number(seq) };
    if (name === undefined) main = furthest(main, at);
    else shards.set(name, furthest(shards.get(name), at));
  }
  return { main, shards };
}

/**
 * Returns the positions that another node reports, or undefined if the text is invalid: then the outcome is
 * unknown.
 */
export function parseRemotePositions(text: string): Positions | undefined {
  try {
    return parsePositions(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses the token of a database without shards. Returns undefined for an empty text. Fails PARAM_VALUE for
 * an invalid token.
 */
export const parsePosition = (text: string): ClusterPosition | undefined =>
  parsePositions(text).main;

export function printPositions(main: ClusterPosition, shards?: ShardPositions): string {
  const own = printPosition(main);
  if (shards === undefined) return own;
  return [own, ...Array.from(shards, ([name, at]) => `${name}=${printPosition(at)}`)].join();
}

function failNone(text: string): never {
  const allowed = 'what an answer carried in `Trellis-Position`';
  return fail('PARAM_VALUE', { param: 'Trellis-After', allowed, got: excerpt(text) });
}
