// Asks all shards of a scattered type, each once more at another node that has it when the first is slow, and
// makes one answer of theirs. Invariant: an answer without a shard is given only to those who allow it, and
// says how many there are; a write is asked of one place, once.
import { wallMs } from '../../base/clock.js';
import { TrellisError, fail, isRetryable } from '../../base/errors.js';
import { parseUuid, shardOf } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import { scanBody } from '../../json/decode.js';
import type { Merge } from '../../plan/scatter-merge.js';
import type { Plan, Query } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import type { Claim } from '../idempotency/idempotency-key.js';
import type { CallOptions } from '../call/options.js';
import { checkAgreed, whenAgreed } from './program-agreement.js';
import { mergeReplies } from './merge.js';

/** One place that has a shard. */
export interface Replica {
  /** What it answers by, where that can be another one than that of whoever asks. */
  readonly program?: Program;
  call(name: string, body: Uint8Array, options: CallOptions): Uint8Array | Promise<Uint8Array>;
}

/** The places that have the same data; the first is asked first. */
export type Shard = readonly Replica[];

export interface GatherOptions {
  /** By the name of their type. */
  shards: (type: string) => readonly Shard[];
  limits: Limits;
  /** By the model that is named, else that of a vector type, else that of the server. */
  embed: (
    model: string | undefined,
    type: string | undefined,
    texts: readonly string[],
    budgetMs: number,
  ) => Promise<Float64Array[]>;
  /** Takes the key of a repeated write for all shards together, or gives it back: in the main database. */
  claim: (name: string, body: Uint8Array, options: CallOptions) => Promise<Uint8Array> | Uint8Array;
  /** A shard that is slower is asked at another place too. */
  hedgeMs: number;
  /** How long a call waits for shards that a reload has not reached. */
  waitMs: number;
}

export class ScatterGather {
  #next = 0;
  /** Keys whose writes are under way: those of one key go one after another. */
  readonly #keys = new Map<string, Promise<unknown>>();

  constructor(private readonly options: GatherOptions) {}

  /** Answers a query about a scattered type. Fails PROGRAM_CHANGED. */
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
      const at = this.#placeOf(merge.id, body, options, shards.length);
      if (!plan.writes) return this.#ask(shards[at]!, name, body, options);
      const write = () => this.#ask(shards[at]!.slice(0, 1), name, body, options);
      return options.once === undefined ? write() : this.#once(name, body, options, write);
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
    const whole = await this.#withMade(merge, body, options);
    checkAgreed(shards, name, plan);
    const bodies = await this.#all(shards, name, whole, options);
    // Another program may have come to one of them in between.
    checkAgreed(shards, name, plan);
    return bodies;
  }

  /**
   * A repeat is answered by the shard that did it. That a key stands for one request only, whichever shards
   * and types its bodies are about, is for the one place to know that they have in common.
   */
  async #once(
    name: string,
    body: Uint8Array,
    options: CallOptions,
    write: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const once = options.once!;
    const key = `${once.scope} ${once.key}`;
    const claim = async (how: Claim): Promise<unknown> =>
      this.options.claim(name, body, { ...options, once: { ...once, claim: how } });
    const turn = (this.#keys.get(key) ?? Promise.resolve()).then(async () => {
      await claim('take');
      try {
        return await write();
      } catch (error) {
        // Refused for good, so that it is not done: the key is as good as new.
        if (isRefusal(error)) await claim('give back');
        throw error;
      }
    });
    const over = turn.catch(() => undefined);
    this.#keys.set(key, over);
    void over.finally(() => {
      if (this.#keys.get(key) === over) this.#keys.delete(key);
    });
    return turn;
  }

  /** The body with the vectors of its texts, and its NOW. A text that is missing is missed by the shards. */
  async #withMade(
    { texts, moment, model }: Merge & { kind: 'all' },
    body: Uint8Array,
    { budgetMs }: CallOptions,
  ): Promise<Uint8Array> {
    if (texts.length === 0 && moment === undefined) return body;
    const { limits, embed } = this.options;
    const view = body.length === 0 ? undefined : scanBody(body, limits);
    const given = texts.flatMap(({ vector, type, parameter, text }) => {
      const found = parameter === undefined ? undefined : view?.member(parameter);
      const isAbsent = found === undefined || found.kind === 'null';
      const wanted = found?.kind === 'string' ? found.text() : isAbsent ? text : undefined;
      return wanted === undefined ? [] : [{ vector, type, text: wanted }];
    });
    const embedded = [...new Set(given.map(({ type }) => type))].map(async (type) => {
      const mine = given.filter((one) => one.type === type);
      const wanted = mine.map(({ text }) => text);
      const vectors = await embed(model, type, wanted, budgetMs ?? limits.query_time);
      return mine.map(({ vector }, i) => `"${vector}":[${vectors[i]!.join()}]`);
    });
    const now = new Date(wallMs()).toISOString();
    const made = moment === undefined ? [] : [`"${moment}":"${now}"`];
    const more = [...made, ...(await Promise.all(embedded)).flat()];
    if (more.length === 0) return body;
    // A body may be `null`, or not be there.
    const isObject = view?.kind === 'object';
    const members = isObject ? Buffer.from(body).toString().trim().slice(1, -1).trim() : '';
    return Buffer.from(`{${[members, ...more].filter((part) => part !== '').join()}}`);
  }

  /** Of an id, its shard; of a new element any, but for a repeated write always the same. */
  #placeOf(
    parameter: string | undefined,
    body: Uint8Array,
    { once }: CallOptions,
    of: number,
  ): number {
    if (parameter === undefined) {
      if (once === undefined) return this.#next++ % of;
      return shardOf(Buffer.from(`${once.scope} ${once.key}`.padEnd(16)), of);
    }
    const given =
      body.length === 0 ? undefined : scanBody(body, this.options.limits).member(parameter);
    const id = given?.kind === 'string' ? parseUuid(given.text()) : undefined;
    // What is no id is refused by whichever shard is asked.
    return id === undefined ? 0 : shardOf(id, of);
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
      shards.map((shard) => this.#ask(shard, name, body, more)),
    );
    const bodies: Uint8Array[] = [];
    for (const one of settled) {
      if (one.status === 'fulfilled') bodies.push(one.value);
      else if (isFault(one.reason)) throw one.reason;
    }
    options.onShards?.(bodies.length, shards.length);
    if (bodies.length === shards.length) return bodies;
    if (options.partial !== true || bodies.length === 0) {
      fail('SHARD_MISSING', { answered: bodies.length, shards: shards.length });
    }
    return bodies;
  }

  /** The first answer of a shard. What one place refuses for good, all do. */
  #ask(shard: Shard, name: string, body: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const { hedgeMs } = this.options;
    return new Promise((resolve, reject) => {
      let asked = 0;
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
        const replica = shard[asked++];
        if (replica === undefined) return;
        if (asked < shard.length) timer = setTimeout(next, hedgeMs);
        Promise.resolve()
          .then(() => replica.call(name, body, more))
          .then(
            (answer) => {
              clearTimeout(timer);
              resolve(answer);
              // Nobody waits for the other places any more.
              if (asked > 1) cancelAll();
            },
            (error: unknown) => {
              if (isFault(error) || ++failed === shard.length) {
                clearTimeout(timer);
                reject(error);
              } else if (asked < shard.length) next();
            },
          );
      };
      next();
    });
  }
}

/** A write that its shard has undone, and that comes again only when somebody changes something. */
const isRefusal = (error: unknown): boolean =>
  error instanceof TrellisError && !isRetryable(error.code) && error.code !== 'INTERNAL';

/** Whether asking elsewhere would not help: the request itself is refused, or a defect is met. */
function isFault(error: unknown): boolean {
  return !(error instanceof TrellisError) || !elsewhere.has(error.code);
}

const elsewhere: ReadonlySet<string> = new Set([
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
