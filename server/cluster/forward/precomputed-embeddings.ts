// Carries embeddings along with a call to the leader of a cluster. The node that received the call checks key
// and arguments by its own tables, embeds the texts, and appends the vectors to the body. Invariant: only
// vectors from a node with a valid proof are used, and only for the same model and text. In every other case
// the leader embeds, so the vectors only save work.
import { type Database, TrellisError } from '../../../engine/internal.js';
import { NodeProof } from '../node-auth.js';
import type { Exchange } from '../../http/exchange.js';
import { targetOf } from '../node-client.js';

/** Embeds the texts of a call. Returns undefined if it has none. */
export type Embed = () => Promise<Uint8Array> | undefined;

/** A call that is forwarded to the leader on behalf of a client. */
export interface Forwarded {
  body: Uint8Array;
  /** Path and query string. Absent: those of the client. */
  target?: string;
  /** Embeds the texts of the call. Absent: the leader embeds. */
  embed?: Embed | undefined;
  /** Milliseconds that the call may take, including the time on this node. */
  budgetMs?: number;
}

/** Errors of embedding itself. After any other error the leader decides. */
const own: ReadonlySet<string> = new Set([
  'EMBEDDING_FAILED',
  'EMBEDDING_REFUSED',
  'EMBEDDING_TIMEOUT',
  'EMBEDDING_UNAVAILABLE',
  'QUERY_TIMEOUT',
]);

/**
 * Embeds on this node if it can. A node with another program or without a provider leaves it to the leader.
 * The leader gets the rest of `budgetMs`. Fails as embedding does.
 */
export async function embedLocally(
  embed: Embed | undefined,
  exchange: Exchange,
  budgetMs: number,
): Promise<Uint8Array | undefined> {
  try {
    const made = embed?.();
    if (made === undefined) return undefined;
    exchange.timeoutHeader = String(budgetMs);
    return await made;
  } catch (error) {
    if (error instanceof TrellisError && !own.has(error.code)) return undefined;
    throw error;
  }
}

/** Returns the embedding step of a call by query name. */
export const embedOf =
  (database: () => Database, name: string, body: Uint8Array, budgetMs: number): Embed =>
  () =>
    database().embedAhead({ name, body }, budgetMs);

/** Returns the body as the client sent it. Trusted embeddings are stored in the exchange. */
export function withoutEmbeddings(
  exchange: Exchange,
  body: Uint8Array,
  proof: NodeProof | undefined,
): Uint8Array {
  const { embeddedBy, tenant } = exchange;
  if (embeddedBy === '') return body;
  const [length = '', signature = ''] = embeddedBy.split(' ');
  const at = body.length - Number(length);
  if (!/^\d{1,10}$/.test(length) || at < 0) return body;
  const head = { path: targetOf(exchange), tenant };
  if (proof?.accept(signature, head) && NodeProof.isOf(signature, body))
    exchange.embeddings = body.subarray(at);
  return body.subarray(0, at);
}
