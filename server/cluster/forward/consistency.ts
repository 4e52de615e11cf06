// Ensures that each response is as fresh as the request's headers or `cluster.read_consistency` demand. Every
// request to a node passes through here before its endpoint, and every response carries the position of the
// node. Invariant: a `session` read is never older than the token of its request. A `strong` read is never
// older than any write that was answered before the request arrived.
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
import { explainFlagOf } from '../../pipeline/explain-flags.js';
import { ShardReads } from './shard-reads.js';

export interface ConsistencyOptions extends ForwardOptions {
  /** Mode of requests that specify none. */
  read: ReadMode;
  /** Nodes whose addresses are configured. */
  members?: readonly ClusterLeader[];
  database: () => Database;
  /** Whether the positions of all shards here fit into a header. */
  reportsShards: boolean;
  proof: NodeProof | undefined;
}

/** Forwards a call of the query to the leader. Returns undefined if this node answers itself. */
export type CallOnLeader = (
  exchange: Exchange,
  query: string,
  body: Uint8Array,
  budgetMs: number,
) => Promise<Uint8Array> | undefined;

export class Consistency {
  readonly #freshness: Freshness;
  /** Addresses by node name. */
  readonly #addresses = new Map<string, string>();

  constructor(private readonly options: ConsistencyOptions) {
    this.#freshness = new Freshness(options);
    const { node, members = [] } = options;
    for (const member of members) this.#note(member);
    this.#note(node.leader);
    node.onChange(({ leader }) => this.#note(leader));
  }

  #note(leader: ClusterLeader | undefined): void {
    if (leader?.address) this.#addresses.set(leader.node, leader.address);
  }

  /**
   * Forwards the request to the node of that name and returns its response. Addresses come only from the
   * configuration or the log, never from a request. Returns undefined if the address is unknown, or the
   * request was already forwarded.
   */
  sendTo(name: string, exchange: Exchange, body: Uint8Array): Promise<Result> | undefined {
    const address = this.#addresses.get(name);
    if (address === undefined || exchange.forwardedProgram !== '') return undefined;
    return forwardToNode(this.options, { node: name, address }, exchange, body);
  }

  /**
   * Returns the position token of a response that begins now: this node's, or that of the node that answered
   * instead.
   */
  tokenOf({ answeredAt, shardsAt }: Exchange): string {
    const { node } = this.options;
    const isEnough = answeredAt === undefined || node.hasApplied(answeredAt);
    return printPositions(isEnough ? node.position : answeredAt, shardsAt);
  }

  /** Returns the client's part of a body that another node may have forwarded. */
  received(exchange: Exchange, body: Uint8Array): Uint8Array {
    return withoutEmbeddings(exchange, body, this.options.proof);
  }

  /**
   * Returns the call of a query with its embedding step. An explain request (`isCall` false) embeds nothing.
   */
  #callOf(query: string, body: Uint8Array, budgetMs: number, isCall = true): Forwarded {
    const embed = isCall ? embedOf(this.options.database, query, body, budgetMs) : undefined;
    return { body, budgetMs, embed };
  }

  /** Returns true if another node checks and answers this request. */
  passesOn(exchange: Exchange, endpoint: Endpoint): boolean {
    return goesToLeader(this.options.node, exchange, endpoint);
  }

  /**
   * Returns the response of another node, or the endpoint's after a wait. Returns undefined if the endpoint
   * may answer immediately.
   */
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
    const { node, read, reportsShards } = this.options;
    checkProgram(node, exchange);
    const mode = exchange.consistency || read;
    const shards = endpoint.sharded ? new ShardReads(exchange, mode, reportsShards) : undefined;
    exchange.shards = shards;
    const call = () =>
      this.#callOf(
        query,
        body,
        budgetOf(exchange, endpoint.budgetMs),
        explainFlagOf(exchange.query) !== 'explain',
      );
    if (this.passesOn(exchange, endpoint)) return forwardToLeader(this.options, exchange, call());
    // A session forwards its own writes to the leader.
    if (endpoint.writes && endpoint.sessionCall && !isAnsweredHere(node, exchange))
      return undefined;
    const wait = this.#freshness.whenFresh({
      mode,
      after: () => (shards === undefined ? parsePosition(exchange.after) : shards.main),
      key: () => keyOf(exchange),
    });
    const isLeaderOnly = endpoint.writes && !endpoint.sessionCall && !isOfShard(exchange, endpoint);
    if (!isLeaderOnly) return wait?.then(answer);
    const forwarded = () => answerOrForward(this.options, exchange, call, answer);
    return wait === undefined ? forwarded() : wait.then(forwarded);
  }

  /**
   * Waits until this node is as fresh as a read demands. Used for reads that are not queries of the program,
   * or that become known only from their body. Returns undefined if the node is fresh enough already.
   */
  fresh(exchange: Exchange): Promise<unknown> | undefined {
    const mode = exchange.consistency || this.options.read;
    const after = () => parsePosition(exchange.after);
    return this.#freshness.whenFresh({ mode, after, key: () => keyOf(exchange) });
  }

  /** Lets the leader answer a leader-only request. `answer` runs if this node is the leader. */
  onLeader(
    exchange: Exchange,
    call: Forwarded,
    answer: () => Result | Promise<Result>,
  ): Promise<Result> {
    if (isAnsweredHere(this.options.node, exchange))
      return answerOrForward(this.options, exchange, () => call, answer);
    return forwardToLeader(this.options, exchange, call);
  }

  /**
   * Returns the body of the leader's response to a call of the query, for a client that made a different
   * request. Returns undefined if this node answers. Fails with the error of the leader.
   */
  callOnLeader(
    exchange: Exchange,
    query: string,
    body: Uint8Array,
    budgetMs: number,
  ): Promise<Uint8Array> | undefined {
    if (isAnsweredHere(this.options.node, exchange)) return undefined;
    const call = { ...this.#callOf(query, body, budgetMs), target: `/${query}` };
    return forwardToLeader(this.options, exchange, call).then(({ status, body: reply }) =>
      goodBody(status.startsWith('200'), Buffer.from(reply)),
    );
  }
}
