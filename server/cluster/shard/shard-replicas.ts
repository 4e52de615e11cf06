// The replicas that answer for one shard of a scattered type: the database on this node, and in a cluster the
// same database on other nodes. The leader of the shard runs writes. A read that is slow here also goes to
// other members. Invariant: a response of another node comes from the same program as here. It is not older
// than the data here, or as fresh as the request demands.
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type CallOptions,
  type ClusterNode,
  type Database,
  type Program,
  type Shard,
  TrellisError,
  fail,
  printPosition,
} from '../../../engine/internal.js';
import { type NodeClient, goodBody } from '../node-client.js';
import { Freshness, ignoreTimeout } from '../read/read-consistency.js';
import { furthest, parseRemotePositions } from '../read/consistency-token.js';
import type { Member } from '../placement.js';

export interface ShardReplicaOptions {
  /** Name of the shard. */
  name: string;
  database: Pick<Database, 'call' | 'program' | 'cluster'>;
  /** Other members, best placed first. */
  others: readonly Member[];
  calls: NodeClient;
  /** Longest wait in milliseconds for a leader, and for this node to apply its write. */
  waitMs: number;
}

/** Milliseconds between two attempts during a leader change. */
const betweenMs = 20;

const hasNoLeader = (code: string): boolean => code === 'NO_LEADER' || code === 'NOT_LEADER';

const writes = new WeakMap<Program, ReadonlySet<string>>();

function writesOf(program: Program): ReadonlySet<string> {
  let known = writes.get(program);
  if (known === undefined) {
    known = new Set(program.queries.flatMap(({ name, plan }) => (plan.writes ? [name] : [])));
    writes.set(program, known);
  }
  return known;
}

/**
 * Returns the replicas of a shard. Without `cluster.secret_file` nodes cannot prove their identity, so this
 * node is the only replica.
 */
export function shardReplicas(parts: ShardReplicaOptions): Shard {
  const { database, others, calls } = parts;
  const reading = new ShardRead(parts);
  const local = {
    get program() {
      return database.program;
    },
    call: (name: string, body: Uint8Array, options: CallOptions) => {
      const { cluster } = database;
      if (cluster === undefined) return database.call(name, body, options);
      if (writesOf(database.program).has(name))
        return new ShardWrite(parts, cluster).call(name, body, sameEverywhere(options));
      return reading.readLocal(cluster, name, body, options);
    },
  };
  if (!calls.hasProof) return [local];
  const remote = others.map(({ address }) => ({
    call: (name: string, body: Uint8Array, options: CallOptions) =>
      reading.readRemote(address, name, body, options),
  }));
  return [local, ...remote];
}

/**
 * Derives one idempotency key for all nodes, so that a repeat finds its response whichever node leads the
 * shard then.
 */
function sameEverywhere(options: CallOptions): CallOptions {
  const { idempotency } = options;
  if (idempotency === undefined) return options;
  const key = createHash('sha256').update(`${idempotency.scope}\0${idempotency.key}`).digest('hex');
  return { ...options, idempotency: { scope: 'node', key } };
}

/** One write. This node runs it if it leads the shard, else the leader does. */
class ShardWrite {
  constructor(
    private readonly parts: ShardReplicaOptions,
    private readonly node: ClusterNode,
  ) {}

  async call(name: string, body: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const { waitMs, calls } = this.parts;
    for (const end = performance.now() + waitMs; ; await pause(betweenMs)) {
      const left = end - performance.now();
      try {
        if (this.node.role === 'leader' || !calls.hasProof) {
          const done = await this.parts.database.call(name, body, options);
          options.shards?.answered(this.parts.name, this.node.position);
          return done;
        }
        const done = await this.#byLeader(name, body, options, left);
        if (done !== undefined) return done;
        if (left <= betweenMs) fail('NO_LEADER');
      } catch (error) {
        const isOver = left <= betweenMs || !calls.hasProof || !(error instanceof TrellisError);
        if (isOver || !hasNoLeader(error.code)) throw error;
      }
    }
  }

  /** Returns undefined if there is no leader, or it cannot be reached. */
  async #byLeader(
    name: string,
    body: Uint8Array,
    { idempotency, budgetMs, shards }: CallOptions,
    left: number,
  ): Promise<Uint8Array | undefined> {
    const { calls, waitMs } = this.parts;
    const leader = this.node.leader ?? (await this.node.waitForLeader(Math.max(0, left)));
    if (leader === undefined || leader.node === this.node.node) return undefined;
    const headers = {
      'Trellis-Passed-On': this.node.program,
      ...timeOf(budgetMs),
      ...(idempotency && { 'Idempotency-Key': idempotency.key }),
    };
    const call = { path: `/${name}`, headers, body, asNode: true };
    const started = performance.now();
    const answer = await calls.forward(leader.address, call);
    if (answer === undefined) return undefined;
    const done = goodBody(answer.status === 200, answer.body);
    const positions = parseRemotePositions(answer.header('trellis-position'));
    if (positions === undefined)
      return fail('OUTCOME_UNKNOWN', { ms: Math.round(performance.now() - started) });
    // Later reads here are not older than this write.
    const at = positions.main;
    if (at !== undefined) {
      shards?.answered(this.parts.name, at);
      this.node.noteAnswered(at);
      await this.node.waitFor(at, waitMs).catch(ignoreTimeout);
    }
    return done;
  }
}

/** Reads with the requested freshness, here and on other nodes. */
class ShardRead {
  #freshness: { node: ClusterNode; of: Freshness } | undefined;

  constructor(private readonly parts: ShardReplicaOptions) {}

  async readLocal(
    node: ClusterNode,
    name: string,
    body: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const { shards } = options;
    const mode = shards?.mode ?? 'session';
    const after = () => shards?.after(this.parts.name);
    await this.#of(node).whenFresh({ mode, after, key: () => shards?.key ?? {} });
    const answer = await this.parts.database.call(name, body, options);
    shards?.answered(this.parts.name, node.position);
    return answer;
  }

  #of(node: ClusterNode): Freshness {
    if (this.#freshness?.node !== node) {
      const { waitMs, calls } = this.parts;
      this.#freshness = { node, of: new Freshness({ node, waitMs, calls }) };
    }
    return this.#freshness.of;
  }

  /**
   * Fails SHARD_MISSING if the node cannot be reached or refuses. Fails with the node's error if the request
   * itself is wrong.
   */
  async readRemote(
    address: string,
    name: string,
    body: Uint8Array,
    { budgetMs, shards }: CallOptions,
  ): Promise<Uint8Array> {
    const { database, calls } = this.parts;
    const { cluster: node } = database;
    const headers = {
      ...timeOf(budgetMs),
      ...(node && { 'Trellis-Passed-On': node.program, ...this.#asFresh(node, shards) }),
    };
    const call = { path: `/${name}`, headers, body, asNode: true };
    const answer = await calls.forward(address, call).catch(() => undefined);
    // An error that concerns only that node is no answer. This node may have one soon.
    const isAnswered = answer?.status === 200 || answer?.status === 400;
    const positions = isAnswered
      ? parseRemotePositions(answer.header('trellis-position'))
      : undefined;
    if (!isAnswered || positions === undefined)
      return fail('SHARD_MISSING', { answered: 0, shards: 1 });
    const at = positions.main;
    if (at !== undefined) {
      shards?.answered(this.parts.name, at);
      node?.noteAnswered(at);
    }
    return goodBody(answer.status === 200, answer.body);
  }

  /** Returns the headers that demand data not older than here, nor than the request demands. */
  #asFresh(node: ClusterNode, shards: CallOptions['shards']): Record<string, string> {
    const { mode = 'session' } = shards ?? {};
    if (mode !== 'local' && mode !== 'session') return { 'Trellis-Consistency': mode };
    const after = mode === 'session' ? shards?.after(this.parts.name) : undefined;
    return {
      'Trellis-Consistency': 'session',
      'Trellis-After': printPosition(furthest(after, node.owed ?? node.position)),
    };
  }
}

const timeOf = (budgetMs: number | undefined): Record<string, string> =>
  budgetMs === undefined ? {} : { 'X-Request-Timeout-Ms': String(Math.ceil(budgetMs)) };
