// Embeddings that travel beside a call to the leader of a cluster (K22): the node that took the call has its texts
// embedded once it has judged key and arguments by its own tables, and sends the vectors behind the body. Invariant:
// only vectors that a node of the cluster vouches for are used, and those only for the very model and text; in every
// other case the leader embeds by itself, so that what travels is never more than a saving.
import { type Database, TrellisError } from '../../../engine/internal.js';
import { NodeProof } from '../node-auth.js';
import type { Exchange } from '../../http/exchange.js';
import { targetOf } from '../node-client.js';

/** What the texts of a call become; undefined: it has none. */
export type Embed = () => Promise<Uint8Array> | undefined;

/** What the leader is asked in a client's place. */
export interface Forwarded {
  body: Uint8Array;
  /** Path and query; absent: the client's own. */
  target?: string;
  /** Of its texts; absent: the leader embeds. */
  embed?: Embed | undefined;
  /** Milliseconds that it may take, with what it takes here. */
  budgetMs?: number;
}

/** Faults of the work itself; of any other the leader is the judge. */
const own: ReadonlySet<string> = new Set([
  'EMBEDDING_FAILED',
  'EMBEDDING_TIMEOUT',
  'EMBEDDING_UNAVAILABLE',
  'QUERY_TIMEOUT',
]);

/**
 * Made here where it can be: who has another program or no provider leaves it to the leader. What is left of
 * `budgetMs` afterwards is the leader's. Fails as embedding does.
 */
export async function embeddedHere(
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

/** Of a query that is called by name. */
export const embedOf =
  (database: () => Database, name: string, body: Uint8Array, budgetMs: number): Embed =>
  () =>
    database().embedAhead({ name, body }, budgetMs);

/** The body as the client sent it; what was embedded for it goes to the exchange, if that can be trusted. */
export function withoutEmbeddings(
  exchange: Exchange,
  body: Uint8Array,
  proof: NodeProof | undefined,
): Uint8Array {
  const { embeddedBy, tenant } = exchange;
  if (embeddedBy === '') return body;
  const [length = '', vouched = ''] = embeddedBy.split(' ');
  const at = body.length - Number(length);
  if (!/^\d{1,10}$/.test(length) || at < 0) return body;
  const head = { path: targetOf(exchange), tenant };
  if (proof?.accept(vouched, head) && NodeProof.isOf(vouched, body))
    exchange.embeddings = body.subarray(at);
  return body.subarray(0, at);
}
