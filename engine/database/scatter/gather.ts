// Asks all shards of a scattered type, each once more at another node that has it when the first is slow, and
// makes one answer of theirs. Invariant: an answer without a shard is given only to those who allow it, and
// says how many there are; a write is asked of one place, once.
import { TrellisError, fail } from '../../base/errors.js';
import { parseUuid, shardOf } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import { scanBody } from '../../json/decode.js';
import type { Merge } from '../../plan/merge.js';
import type { Query } from '../../plan/plan.js';
import type { CallOptions } from '../call/options.js';
import { mergeReplies } from './merge.js';

/** One place that has a shard. */
export interface Replica {
  call(name: string, body: Uint8Array, options: CallOptions): Uint8Array | Promise<Uint8Array>;
}

/** The places that have the same data; the first is asked first. */
export type Shard = readonly Replica[];

export interface GatherOptions {
  /** By the name of their type. */
  shards: (type: string) => readonly Shard[];
  limits: Limits;
  /** By the model of a type, or the one that is named. */
  embed: (
    model: string | undefined,
    type: string,
    texts: readonly string[],
    budgetMs: number,
  ) => Promise<Float64Array[]>;
  /** A shard that is slower is asked at another place too. */
  hedgeMs: number;
}

export class Gatherer {
  #next = 0;

  constructor(private readonly options: GatherOptions) {}

  /** Answers a query about a scattered type. */
  call(
    { name, scatter, plan }: Query,
    body: Uint8Array,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const { type, merge } = scatter!;
    const shards = this.options.shards(type);
    if (merge.kind === 'one') {
      const at = this.#placeOf(merge.id, body, options, shards.length);
      const shard = plan.writes ? shards[at]!.slice(0, 1) : shards[at]!;
      return this.#ask(shard, name, body, options);
    }
    return this.#withVectors(type, merge, body, options)
      .then((whole) => this.#all(shards, name, whole, options))
      .then((bodies) => mergeReplies(merge.members, bodies));
  }

  /** The body with the vectors of its texts. A text that is missing is missed by the shards. */
  async #withVectors(
    type: string,
    { texts, model }: Merge & { kind: 'all' },
    body: Uint8Array,
    { budgetMs }: CallOptions,
  ): Promise<Uint8Array> {
    if (texts.length === 0) return body;
    const { limits, embed } = this.options;
    const view = scanBody(body, limits);
    const given = texts.flatMap(({ vector, parameter, text }) => {
      const found = parameter === undefined ? undefined : view.member(parameter);
      const isAbsent = found === undefined || found.kind === 'null';
      const wanted = found?.kind === 'string' ? found.text() : isAbsent ? text : undefined;
      return wanted === undefined ? [] : [{ vector, text: wanted }];
    });
    if (given.length === 0) return body;
    const wanted = given.map(({ text }) => text);
    const vectors = await embed(model, type, wanted, budgetMs ?? limits.query_time);
    const more = given.map(({ vector }, i) => `"${vector}":[${vectors[i]!.join()}]`);
    const members = Buffer.from(body).toString().trim().slice(1, -1).trim();
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
