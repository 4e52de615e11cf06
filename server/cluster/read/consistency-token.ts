// The token of how far a node is, as it comes in the headers of answers and requests: `3.1027`, and of the shards
// that have answered, each by its name: `3.1027,passage-0=1.44`. Invariant: what was printed is read back the
// same; anything else is refused, never taken for a lower position.
import {
  type ClusterPosition,
  excerpt,
  fail,
  isBehind,
  printPosition,
} from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';

export type ShardPositions = ReadonlyMap<string, ClusterPosition>;

/** Of the main database, or of a tenant's, and of shards beside it. */
interface Positions {
  main: ClusterPosition | undefined;
  shards: ShardPositions;
}

/** A name as `shardName` gives it, epoch, and sequence. */
const form = /^(?:([a-z_][a-z0-9_]{0,50}-\d{1,4})=)?(\d{1,10})\.(\d{1,15})$/;

export const furthest = (a: ClusterPosition | undefined, b: ClusterPosition): ClusterPosition =>
  a === undefined || isBehind(a, b) ? b : a;

/** Bytes of a part, the name apart, as long as sequences have 12 digits. */
const partBytes = 22;

/** Whether a token of all those shards takes at most half of a request's head. */
export const fitInHeader = (shards: readonly string[], headerBytes: number): boolean =>
  shards.reduce((sum, name) => sum + name.length + partBytes, 0) <= headerBytes / 2;

/** That shard has answered a part of the request, and was so far. */
export function noteShard(exchange: Exchange, shard: string, at: ClusterPosition): void {
  exchange.shardsAt ??= new Map();
  exchange.shardsAt.set(shard, furthest(exchange.shardsAt.get(shard), at));
}

/** Fails PARAM_VALUE for what is no token. No text is a token of nothing. */
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

/** Returns the positions that another node reports, or undefined if the text is none: then the outcome is unknown. */
export function parseRemotePositions(text: string): Positions | undefined {
  try {
    return parsePositions(text);
  } catch {
    return undefined;
  }
}

/** Of a database that has no shards. Undefined for no token at all. Fails PARAM_VALUE for what is none. */
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
