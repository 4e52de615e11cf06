// The places that answer for one shard of a scattered type: its database here, and in a cluster the same database on
// other nodes. A write is done by the node that leads the shard; a read that is slow here is asked of other members.
// Invariant: what another node answers is of the same program as here, and not older than what is here, or as fresh
// as the request asks.
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
import { Freshness, keptWaiting } from '../read/read-consistency.js';
import { furthest, parseRemotePositions } from '../read/consistency-token.js';
import type { Member } from '../placement.js';

export interface ShardReplicaOptions {
  /** Of the shard. */
  name: string;
  database: Pick<Database, 'call' | 'program' | 'cluster'>;
  /** Best place first, without this node. */
  others: readonly Member[];
  calls: NodeClient;
  /** Longest wait for a leader, and for what it has done to be here. */
  waitMs: number;
}

/** Between two tries, while the lead changes hands. */
const betweenMs = 20;

const isNobodys = (code: string): boolean => code === 'NO_LEADER' || code === 'NOT_LEADER';

const writes = new WeakMap<Program, ReadonlySet<string>>();

function writesOf(program: Program): ReadonlySet<string> {
  let known = writes.get(program);
  if (known === undefined) {
    known = new Set(program.queries.flatMap(({ name, plan }) => (plan.writes ? [name] : [])));
    writes.set(program, known);
  }
  return known;
}

/** Nodes prove who they are by `cluster.secret_file`: without one, this node is the only place. */
export function shardReplicas(ways: ShardReplicaOptions): Shard {
  const { database, others, calls } = ways;
  const reading = new ShardRead(ways);
  const here = {
    get program() {
      return database.program;
    },
    call: (name: string, body: Uint8Array, options: CallOptions) => {
      const { cluster } = database;
      if (cluster === undefined) return database.call(name, body, options);
      if (writesOf(database.program).has(name))
        return new ShardWrite(ways, cluster).call(name, body, sameEverywhere(options));
      return reading.here(cluster, name, body, options);
    },
  };
  if (!calls.vouches) return [here];
  const there = others.map(({ address }) => ({
    call: (name: string, body: Uint8Array, options: CallOptions) =>
      reading.there(address, name, body, options),
  }));
  return [here, ...there];
}

/** A repeat finds its answer under the same name, whichever node leads the shard by then. */
function sameEverywhere(options: CallOptions): CallOptions {
  const { once } = options;
  if (once === undefined) return options;
  const key = createHash('sha256').update(`${once.scope}\0${once.key}`).digest('hex');
  return { ...options, once: { scope: 'node', key } };
}

/** One write: done here if this node leads the shard, else by whichever node does. */
class ShardWrite {
  constructor(
    private readonly ways: ShardReplicaOptions,
    private readonly node: ClusterNode,
  ) {}

  async call(name: string, body: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const { waitMs, calls } = this.ways;
    for (const end = performance.now() + waitMs; ; await pause(betweenMs)) {
      const left = end - performance.now();
      try {
        if (this.node.role === 'leader' || !calls.vouches) {
          const done = await this.ways.database.call(name, body, options);
          options.shards?.answered(this.ways.name, this.node.position);
          return done;
        }
        const done = await this.#byLeader(name, body, options, left);
        if (done !== undefined) return done;
        if (left <= betweenMs) fail('NO_LEADER');
      } catch (error) {
        const isOver = left <= betweenMs || !calls.vouches || !(error instanceof TrellisError);
        if (isOver || !isNobodys(error.code)) throw error;
      }
    }
  }

  /** Undefined: nobody leads, or who does cannot be reached. */
  async #byLeader(
    name: string,
    body: Uint8Array,
    { once, budgetMs, shards }: CallOptions,
    left: number,
  ): Promise<Uint8Array | undefined> {
    const { calls, waitMs } = this.ways;
    const leader = this.node.leader ?? (await this.node.waitForLeader(Math.max(0, left)));
    if (leader === undefined || leader.node === this.node.node) return undefined;
    const headers = {
      'Trellis-Passed-On': this.node.program,
      ...timeOf(budgetMs),
      ...(once && { 'Idempotency-Key': once.key }),
    };
    const asked = { path: `/${name}`, headers, body, asNode: true };
    const started = performance.now();
    const answer = await calls.forward(leader.address, asked);
    if (answer === undefined) return undefined;
    const done = goodBody(answer.status === 200, answer.body);
    const told = parseRemotePositions(answer.header('trellis-position'));
    if (told === undefined)
      return fail('OUTCOME_UNKNOWN', { ms: Math.round(performance.now() - started) });
    // What is read here next is not older than what was written.
    const at = told.main;
    if (at !== undefined) {
      shards?.answered(this.ways.name, at);
      this.node.noteAnswered(at);
      await this.node.waitFor(at, waitMs).catch(keptWaiting);
    }
    return done;
  }
}

/** Reads, as fresh as they ask: here, and at other nodes. */
class ShardRead {
  #freshness: { node: ClusterNode; of: Freshness } | undefined;

  constructor(private readonly ways: ShardReplicaOptions) {}

  async here(
    node: ClusterNode,
    name: string,
    body: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const { shards } = options;
    const mode = shards?.mode ?? 'session';
    const after = () => shards?.after(this.ways.name);
    await this.#of(node).whenFresh({ mode, after, key: () => shards?.key ?? {} });
    const answer = await this.ways.database.call(name, body, options);
    shards?.answered(this.ways.name, node.position);
    return answer;
  }

  #of(node: ClusterNode): Freshness {
    if (this.#freshness?.node !== node) {
      const { waitMs, calls } = this.ways;
      this.#freshness = { node, of: new Freshness({ node, waitMs, calls }) };
    }
    return this.#freshness.of;
  }

  /**
   * Fails SHARD_MISSING where the node cannot be reached or will not answer, and as it does where the request is
   * wrong.
   */
  async there(
    address: string,
    name: string,
    body: Uint8Array,
    { budgetMs, shards }: CallOptions,
  ): Promise<Uint8Array> {
    const { database, calls } = this.ways;
    const { cluster: node } = database;
    const headers = {
      ...timeOf(budgetMs),
      ...(node && { 'Trellis-Passed-On': node.program, ...this.#asFresh(node, shards) }),
    };
    const asked = { path: `/${name}`, headers, body, asNode: true };
    const answer = await calls.forward(address, asked).catch(() => undefined);
    // What is the matter with that node only is no answer: this one may have one in a moment.
    const isTold = answer?.status === 200 || answer?.status === 400;
    const told = isTold ? parseRemotePositions(answer.header('trellis-position')) : undefined;
    if (!isTold || told === undefined) return fail('SHARD_MISSING', { answered: 0, shards: 1 });
    const at = told.main;
    if (at !== undefined) {
      shards?.answered(this.ways.name, at);
      node?.noteAnswered(at);
    }
    return goodBody(answer.status === 200, answer.body);
  }

  /** Not older than here, nor than the request says. */
  #asFresh(node: ClusterNode, shards: CallOptions['shards']): Record<string, string> {
    const { mode = 'session' } = shards ?? {};
    if (mode !== 'local' && mode !== 'session') return { 'Trellis-Consistency': mode };
    const after = mode === 'session' ? shards?.after(this.ways.name) : undefined;
    return {
      'Trellis-Consistency': 'session',
      'Trellis-After': printPosition(furthest(after, node.owed ?? node.position)),
    };
  }
}

const timeOf = (budgetMs: number | undefined): Record<string, string> =>
  budgetMs === undefined ? {} : { 'X-Request-Timeout-Ms': String(Math.ceil(budgetMs)) };
