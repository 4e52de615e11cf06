// How fresh an answer must be, by the headers of its request or by `cluster.read_consistency`: every request of a node
// passes here before its endpoint, and every answer carries how far the node was. Invariant: `session` is
// never older than the token it came with, `strong` never older than any write answered before it came.
import type { ClusterLeader, Database, ReadMode } from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import type { Endpoint, Result } from '../../pipeline/router.js';
import type { NodeProof } from '../node-auth.js';
import { embedOf, type Forwarded, withoutEmbeddings } from './precomputed-embeddings.js';
import {
  type ForwardOptions,
  checkProgram,
  goesToLeader,
  answerOrForward,
  isAnsweredHere,
  keyOf,
  forwardToLeader,
  forwardToNode,
} from './forward.js';
import { budgetOf } from '../../pipeline/timeout.js';
import { isOfShard } from '../../pipeline/idempotency-key.js';
import { Freshness } from '../read/read-consistency.js';
import { goodBody } from '../node-client.js';
import { parsePosition, printPositions } from '../read/consistency-token.js';
import { askedFor } from '../../pipeline/explain-flags.js';
import { ShardReads } from './shard-reads.js';

export interface ConsistencyOptions extends ForwardOptions {
  /** Of requests that ask for nothing. */
  read: ReadMode;
  /** Nodes whose place is known from the beginning. */
  members?: readonly ClusterLeader[];
  database: () => Database;
  /** Whether the positions of all shards there are fit into a header. */
  tellsShards: boolean;
  proof: NodeProof | undefined;
}

/** Of the query of that name; undefined where this node answers. */
export type CallOnLeader = (
  exchange: Exchange,
  query: string,
  body: Uint8Array,
  budgetMs: number,
) => Promise<Uint8Array> | undefined;

export class Consistency {
  readonly #freshness: Freshness;
  /** By the name of the node. */
  readonly #places = new Map<string, string>();

  constructor(private readonly options: ConsistencyOptions) {
    this.#freshness = new Freshness(options);
    const { node, members = [] } = options;
    for (const member of members) this.#note(member);
    this.#note(node.leader);
    node.onChange(({ leader }) => this.#note(leader));
  }

  #note(place: ClusterLeader | undefined): void {
    if (place?.address) this.#places.set(place.node, place.address);
  }

  /**
   * Has the node of that name answer, if it is one whose place is known: only of the configuration or the log, never
   * of a request. Undefined: it is not.
   */
  sendTo(name: string, exchange: Exchange, body: Uint8Array): Promise<Result> | undefined {
    const address = this.#places.get(name);
    if (address === undefined || exchange.passedOn !== '') return undefined;
    return forwardToNode(this.options, { node: name, address }, exchange, body);
  }

  /** The token for an answer that begins now: of this node, or of the one that answered in its place. */
  tokenOf({ answeredAt, shardsAt }: Exchange): string {
    const { node } = this.options;
    const isEnough = answeredAt === undefined || node.hasApplied(answeredAt);
    return printPositions(isEnough ? node.position : answeredAt, shardsAt);
  }

  /** The client's own part of a body that may have come through another node. */
  received(exchange: Exchange, body: Uint8Array): Uint8Array {
    return withoutEmbeddings(exchange, body, this.options.proof);
  }

  /** A call of that query, with what it has to have embedded; what is asked about one has nothing. */
  #callOf(query: string, body: Uint8Array, budgetMs: number, isCall = true): Forwarded {
    const embed = isCall ? embedOf(this.options.database, query, body, budgetMs) : undefined;
    return { body, budgetMs, embed };
  }

  /** Whether another node judges and answers this request. */
  passesOn(exchange: Exchange, endpoint: Endpoint): boolean {
    return goesToLeader(this.options.node, exchange, endpoint);
  }

  /** Who answers in the endpoint's place: undefined where it may answer at once. */
  before(
    exchange: Exchange,
    endpoint: Endpoint,
    body: Uint8Array,
    answer: () => Result | Promise<Result>,
  ): Promise<Result> | undefined {
    if (endpoint.leaderOnly === true) return this.onLeader(exchange, { body }, answer);
    const { query } = endpoint;
    if (query === undefined)
      return endpoint.reads === true ? this.fresh(exchange)?.then(answer) : undefined;
    const { node, read, tellsShards } = this.options;
    checkProgram(node, exchange);
    const mode = exchange.consistency || read;
    const shards = endpoint.sharded ? new ShardReads(exchange, mode, tellsShards) : undefined;
    exchange.shards = shards;
    const call = () =>
      this.#callOf(
        query,
        body,
        budgetOf(exchange, endpoint.budgetMs),
        askedFor(exchange.query) !== 'explain',
      );
    if (this.passesOn(exchange, endpoint)) return forwardToLeader(this.options, exchange, call());
    // What a session writes goes to the leader from within.
    if (endpoint.writes && endpoint.sessionCall && !isAnsweredHere(node, exchange))
      return undefined;
    const wait = this.#freshness.whenFresh({
      mode,
      after: () => (shards === undefined ? parsePosition(exchange.after) : shards.main),
      key: () => keyOf(exchange),
    });
    const isHeld = endpoint.writes && !endpoint.sessionCall && !isOfShard(exchange, endpoint);
    if (!isHeld) return wait?.then(answer);
    const held = () => answerOrForward(this.options, exchange, call, answer);
    return wait === undefined ? held() : wait.then(held);
  }

  /**
   * When this node is as fresh as a read asks that is no query of the program, or that is not known as one before its
   * body is read. Undefined: it is.
   */
  fresh(exchange: Exchange): Promise<unknown> | undefined {
    const mode = exchange.consistency || this.options.read;
    const after = () => parsePosition(exchange.after);
    return this.#freshness.whenFresh({ mode, after, key: () => keyOf(exchange) });
  }

  /** Has the leader answer what it alone may do; `answer` is how it does, where that is this node. */
  onLeader(
    exchange: Exchange,
    asked: Forwarded,
    answer: () => Result | Promise<Result>,
  ): Promise<Result> {
    if (isAnsweredHere(this.options.node, exchange))
      return answerOrForward(this.options, exchange, () => asked, answer);
    return forwardToLeader(this.options, exchange, asked);
  }

  /**
   * The body of the leader's answer to a call of that query, which a client has asked for in other words. Undefined:
   * it is answered here. Fails as it has failed there.
   */
  callOnLeader(
    exchange: Exchange,
    query: string,
    body: Uint8Array,
    budgetMs: number,
  ): Promise<Uint8Array> | undefined {
    if (isAnsweredHere(this.options.node, exchange)) return undefined;
    const call = { ...this.#callOf(query, body, budgetMs), target: `/${query}` };
    return forwardToLeader(this.options, exchange, call).then(({ status, body: told }) =>
      goodBody(status.startsWith('200'), Buffer.from(told)),
    );
  }
}
