// Calls all shards of a sharded type and merges their replies. A slow shard is called once more, on another
// replica.
// Invariant: a reply without some shards is returned only to callers that allow it, with the number of shards
// that responded. A write is sent to one replica, once.
import { wallMs } from '../../base/clock.js';
import { TrellisError, fail, isRetryable } from '../../base/errors.js';
import { parseUuid, computeShard } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import { scanBody } from '../../json/decode.js';
import type { Merge } from '../../plan/scatter-merge.js';
import type { Purpose } from '../../embed/embedder.js';
import type { Plan, Query } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import type { Claim } from '../idempotency/idempotency-key.js';
import type { CallOptions } from '../call/options.js';
import { checkAgreed, whenAgreed } from './program-agreement.js';
import { mergeReplies } from './merge.js';

/** One replica of a shard. */
export interface Replica {
  /** Program of the replica, where it can differ from the caller's program. */
  readonly program?: Program;
  call(name: string, body: Uint8Array, options: CallOptions): Uint8Array | Promise<Uint8Array>;
}

/** Replicas with the same data. The first is called first. */
export type Shard = readonly Replica[];

export interface GatherOptions {
  /** Returns the shards of a type by its name. */
  shards: (type: string) => readonly Shard[];
  limits: Limits;
  /**
   * Embeds with the named model, otherwise with that of the vector type, otherwise with the default model.
   */
  embed: (
    model: string | undefined,
    type: string | undefined,
    texts: readonly string[],
    budgetMs: number,
    purpose: Purpose,
  ) => Promise<Float64Array[]>;
  /**
   * Reserves the idempotency key of a write for all shards together, or releases it. The main database stores
   * it.
   */
  claim: (name: string, body: Uint8Array, options: CallOptions) => Promise<Uint8Array> | Uint8Array;
  /** Milliseconds after which a slow shard is also called on another replica. */
  hedgeMs: number;
  /** Milliseconds to wait for shards that a reload has not reached. */
  waitMs: number;
}

export class ScatterGather {
  #next = 0;
  /** Idempotency keys of running writes. Writes with the same key run one after another. */
  readonly #keys = new Map<string, Promise<unknown>>();

  constructor(private readonly options: GatherOptions) {}

  /** Runs a query on a sharded type. Fails PROGRAM_CHANGED. */
  call(query: Query, body: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const { type, plan } = query.scatter!;
    const shards = this.options.shards(type);
    const waiting = whenAgreed(shards, query.name, plan, this.options.waitMs);
    const answer = (): Promise<Uint8Array> => this.#answer(query, shards, body, options);
    return waiting === undefined ? answer() : waiting.then(answer);
  }

  #answer(
    { name, scatter, plan }: Query,
    shards: readonly Shard[],
    body: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const { merge, plan: own } = scatter!;
    if (merge.kind === 'one') {
      const at = this.#decodePath(merge.id, body, options, shards.length);
      if (!plan.writes) return this.#callShard(shards[at]!, name, body, options);
      const write = () => this.#callShard(shards[at]!.slice(0, 1), name, body, options);
      return options.idempotency === undefined
        ? write()
        : this.#writeIdempotent(name, body, options, write);
    }
    return this.#parts(shards, { name, merge, plan: own }, body, options).then((bodies) =>
      mergeReplies(merge.members, bodies),
    );
  }

  async #parts(
    shards: readonly Shard[],
    { name, merge, plan }: { name: string; merge: Merge & { kind: 'all' }; plan: Plan },
    body: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array[]> {
    const gathered = await this.#withMade(merge, body, options);
    checkAgreed(shards, name, plan);
    const bodies = await this.#all(shards, name, gathered, options);
    // One of them may have received another program meanwhile.
    checkAgreed(shards, name, plan);
    return bodies;
  }

  /**
   * A repetition is answered by the shard that ran the write. The main database ensures that a key is used
   * for one request only, whichever shards and types the bodies refer to.
   */
  async #writeIdempotent(
    name: string,
    body: Uint8Array,
    options: CallOptions,
    write: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const idempotency = options.idempotency!;
    const key = `${idempotency.scope} ${idempotency.key}`;
    const claim = async (how: Claim): Promise<unknown> =>
      this.options.claim(name, body, { ...options, idempotency: { ...idempotency, claim: how } });
    const result = (this.#keys.get(key) ?? Promise.resolve()).then(async () => {
      await claim('take');
      try {
        return await write();
      } catch (error) {
        // The write was permanently refused and not done, so its key can be used again.
        if (isRefusal(error)) await claim('give back');
        throw error;
      }
    });
    const over = result.catch(() => undefined);
    this.#keys.set(key, over);
    void over.finally(() => {
      if (this.#keys.get(key) === over) this.#keys.delete(key);
    });
    return result;
  }

  /**
   * Returns the body with the vectors of its texts and with its NOW. A missing text is reported by the
   * shards.
   */
  async #withMade(
    { texts, moment, model }: Merge & { kind: 'all' },
    body: Uint8Array,
    { budgetMs }: CallOptions,
  ): Promise<Uint8Array> {
    if (texts.length === 0 && moment === undefined) return body;
    const { limits, embed } = this.options;
    const view = body.length === 0 ? undefined : scanBody(body, limits);
    const requests = texts.flatMap(({ vector, type, isQuery, parameter, text }) => {
      const found = parameter === undefined ? undefined : view?.member(parameter);
      const isAbsent = found === undefined || found.kind === 'null';
      const wanted = found?.kind === 'string' ? found.text() : isAbsent ? text : undefined;
      const purpose: Purpose = isQuery ? 'query' : 'document';
      return wanted === undefined ? [] : [{ vector, type, purpose, text: wanted }];
    });
    const useOf = ({ type, purpose }: (typeof requests)[number]): string => `${purpose} ${type}`;
    const embedded = [...new Set(requests.map(useOf))].map(async (use) => {
      const mine = requests.filter((one) => useOf(one) === use);
      const wanted = mine.map(({ text }) => text);
      const { type, purpose } = mine[0]!;
      const budget = budgetMs ?? limits.query_time;
      const vectors = await embed(model, type, wanted, budget, purpose);
      return mine.map(({ vector }, i) => `"${vector}":[${vectors[i]!.join()}]`);
    });
    const now = new Date(wallMs()).toISOString();
    const made = moment === undefined ? [] : [`"${moment}":"${now}"`];
    const more = [...made, ...(await Promise.all(embedded)).flat()];
    if (more.length === 0) return body;
    // A body may be `null` or empty.
    const isObject = view?.kind === 'object';
    const members = isObject ? Buffer.from(body).toString().trim().slice(1, -1).trim() : '';
    return Buffer.from(`{${[members, ...more].filter((part) => part !== '').join()}}`);
  }

  /**
   * Returns the shard of an id. For a new element, returns any shard, but always the same for a repeated
   * write.
   */
  #decodePath(
    parameter: string | undefined,
    body: Uint8Array,
    { idempotency }: CallOptions,
    of: number,
  ): number {
    if (parameter === undefined) {
      if (idempotency === undefined) return this.#next++ % of;
      return computeShard(Buffer.from(`${idempotency.scope} ${idempotency.key}`.padEnd(16)), of);
    }
    const requests =
      body.length === 0 ? undefined : scanBody(body, this.options.limits).member(parameter);
    const id = requests?.kind === 'string' ? parseUuid(requests.text()) : undefined;
    // An invalid id is refused by any shard.
    return id === undefined ? 0 : computeShard(id, of);
  }

  async #all(
    shards: readonly Shard[],
    name: string,
    body: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array[]> {
    const cancels: (() => void)[] = [];
    options.onCancellable?.(() => {
      for (const cancel of cancels) cancel();
    });
    const more = {
      ...options,
      profile: false,
      onCancellable: (cancel: () => void) => cancels.push(cancel),
    };
    const settled = await Promise.allSettled(
      shards.map((shard) => this.#callShard(shard, name, body, more)),
    );
    const bodies: Uint8Array[] = [];
    for (const one of settled) {
      if (one.status === 'fulfilled') bodies.push(one.value);
      else if (isDefect(one.reason)) throw one.reason;
    }
    options.onShards?.(bodies.length, shards.length);
    if (bodies.length === shards.length) return bodies;
    if (options.partial !== true || bodies.length === 0) {
      fail('SHARD_MISSING', { answered: bodies.length, shards: shards.length });
    }
    return bodies;
  }

  /** Returns the first reply of a shard. A permanent refusal by one replica counts for all of them. */
  #callShard(
    shard: Shard,
    name: string,
    body: Uint8Array,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const { hedgeMs } = this.options;
    return new Promise((resolve, reject) => {
      let requested = 0;
      let failed = 0;
      let timer: NodeJS.Timeout | undefined;
      const cancels: (() => void)[] = [];
      const cancelAll = (): void => {
        for (const cancel of cancels) cancel();
      };
      options.onCancellable?.(cancelAll);
      const more = { ...options, onCancellable: (cancel: () => void) => cancels.push(cancel) };
      const next = (): void => {
        clearTimeout(timer);
        const replica = shard[requested++];
        if (replica === undefined) return;
        if (requested < shard.length) timer = setTimeout(next, hedgeMs);
        Promise.resolve()
          .then(() => replica.call(name, body, more))
          .then(
            (answer) => {
              clearTimeout(timer);
              resolve(answer);
              // The calls to the other replicas are no longer needed.
              if (requested > 1) cancelAll();
            },
            (error: unknown) => {
              if (isDefect(error) || ++failed === shard.length) {
                clearTimeout(timer);
                reject(error);
              } else if (requested < shard.length) next();
            },
          );
      };
      next();
    });
  }
}

/** Returns true if a write was undone by its shard and a retry would fail again. */
const isRefusal = (error: unknown): boolean =>
  error instanceof TrellisError && !isRetryable(error.code) && error.code !== 'INTERNAL';

/** Returns true if another replica would not help: the request itself is refused, or there is a defect. */
function isDefect(error: unknown): boolean {
  return !(error instanceof TrellisError) || !otherNodeErrors.has(error.code);
}

const otherNodeErrors: ReadonlySet<string> = new Set([
  'OVERLOADED',
  'NOT_READY',
  'SHUTTING_DOWN',
  'STORAGE_LOST',
  'DATA_CORRUPT',
  'REPLICA_BEHIND',
  'DIVERGED',
  'TENANT_CLOSED',
  'TENANT_UNKNOWN',
  'SHARD_MISSING',
  'QUERY_TIMEOUT',
]);
