// Routes each call: cheap reads run on the calling thread, other reads on a reader thread, writes on the
// writer thread. Embeds texts first. Runs on the calling thread.
// Invariant: every call settles exactly once.
import { type ErrorData, TrellisError, fail } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import { CarriedEmbeddings, packEmbedded } from '../embed/embedding-transfer.js';
import type { Purpose } from '../embed/embedder.js';
import type { Argument, ExecutionResult, ItemList } from '../exec/runtime/execute.js';
import type { Plan, Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import type { IdempotencyKey } from './idempotency/idempotency-key.js';
import { type CallInput, callOf, nameOf } from './call/call.js';
import type { AheadCall, CallOptions } from './call/options.js';
import { failUnknown, queryNumber } from './call/query-table.js';
import { type ExecutorServices, decodeCall } from './call/run-request.js';
import { directArguments } from '../json/direct-arguments.js';
import type { MemoryWatch } from './maintenance/memory-watch.js';
import type { DiskMonitor } from './maintenance/disk-monitor.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { InlineReads } from './lane/inline-reads.js';
import type { WriterClient } from './lane/writer-client.js';
import type { QueryMetrics } from './metrics/query-metrics.js';
import { isSchemaChanged } from './schema/reload-retry.js';
import type { SchemaGuard } from './schema/schema-guard.js';
import {
  type ModelChoice,
  checkTypeModel,
  embeddingsOf,
  embedTexts,
  modelUse,
} from './text-embedding.js';

/** Collaborators of the router. */
export interface AdmissionParts {
  limits: Limits;
  /** True if there are no reader threads. */
  isInlineOnly: boolean;
  services: ExecutorServices;
  guard: SchemaGuard;
  inline: InlineReads;
  dispatcher: Dispatcher;
  writer: WriterClient;
  disk: DiskMonitor;
  memory: MemoryWatch;
  queryMetrics: QueryMetrics;
  models: ModelChoice;
  /** Fails while the database accepts no calls. */
  checkAlive: () => void;
}

const noBody = new Uint8Array(0);
const noOptions: CallOptions = {};

export class CallRouter {
  #queries = new Map<string, { query: Query; number: number }>();

  constructor(private readonly parts: AdmissionParts) {}

  /** Makes a program the current one on this thread. */
  applyProgram(program: Program, generation: number): void {
    const entries = program.queries.map((query, index) => {
      return [query.name, { query, number: queryNumber(generation, index) }] as const;
    });
    this.#queries = new Map(entries);
    this.parts.inline.costs.reset();
    this.parts.queryMetrics.setQueries(program.queries.map(({ name }) => name));
  }

  /** Runs a query: on this thread when it is cheap, otherwise in a lane. Fails with TrellisError. */
  call(
    name: string,
    body: Uint8Array,
    options: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult> {
    const entry = this.#queries.get(name);
    if (entry === undefined) failUnknown(name, this.#queries.keys());
    const { query, number } = entry;
    const { schema } = this.parts.guard;
    const { plan } = query;
    const idempotency = idempotencyKeyOf(query, options);
    if (idempotency?.claim !== undefined)
      return this.#runInLane(plan, { query: number, schema, body, idempotency }, options);
    if (options.profile) {
      const args = decodeCall(query, body, this.parts.services);
      return this.#run(
        { ...plan, profile: true },
        { query: -1, schema, body, args, idempotency },
        options,
      );
    }
    if (plan.embeds.length > 0) {
      const args = decodeCall(query, body, this.parts.services);
      return this.#embedFirst(plan, { query: number, schema, body, args, idempotency }, options);
    }
    if (!plan.writes) {
      const { inline, services } = this.parts;
      const isDeferrable = inline.mayDefer(number, plan, body.length);
      if (isDeferrable || inline.allows(number, plan, body.length)) {
        const args = decodeCall(query, body, services);
        const input = { query: number, schema, body, args };
        if (isDeferrable) return this.#runDeferrable(plan, input, options);
        return this.#runShort(plan, input, options);
      }
    }
    return this.#runInLane(plan, { query: number, schema, body, idempotency }, options);
  }

  /**
   * Runs a short read on this thread with the arguments of an embedded caller, without JSON between. Returns
   * undefined, without side effects, if the call takes the usual way.
   */
  readDirectly(name: string, object: object): Uint8Array | undefined {
    const entry = this.#queries.get(name);
    if (entry === undefined) return undefined;
    const { query, number } = entry;
    const { plan } = query;
    const { inline, guard, limits } = this.parts;
    if (plan.writes || plan.embeds.length > 0 || !inline.allows(number, plan, 0)) return undefined;
    if (inline.mayDefer(number, plan, 0) || inline.turns.mustWait(undefined)) return undefined;
    const args = directArguments(object, plan.parameters, limits);
    if (args === undefined) return undefined;
    this.parts.checkAlive();
    const { schema } = guard;
    const input = { query: number, schema, body: noBody, args };
    try {
      return guard.run(schema, (view) =>
        inline.run(view, plan, input, limits.query_time, noOptions),
      )?.body;
    } catch (error) {
      if (!isSchemaChanged(error)) throw error;
      return undefined;
    }
  }

  /** Runs a plan that has no name. */
  run(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    options: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult> {
    const { schema } = this.parts.guard;
    return this.#run(plan, { query: -1, schema, body: noBody, args, items }, options);
  }

  #run(
    plan: Plan,
    input: CallInput,
    options: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult> {
    if (plan.embeds.length > 0) return this.#embedFirst(plan, input, options);
    if (!plan.writes && this.parts.inline.allows(-1, plan, 0))
      return this.#runShort(plan, input, options);
    return this.#runInLane(plan, input, options);
  }

  #budgetOf(plan: Plan, options: CallOptions): number {
    const { limits } = this.parts;
    return options.budgetMs ?? (plan.writes ? limits.write_time : limits.query_time);
  }

  /** Runs a read on this thread, in a later turn if its caller has used its part of this one. */
  #runShort(
    plan: Plan,
    input: CallInput,
    options: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult> {
    const { turns } = this.parts.inline;
    if (!turns.mustWait(options.caller)) return this.#runInline(plan, input, options);
    return turns.wait(options.caller, this.#later(plan, input, options));
  }

  /**
   * Runs a read on this thread: now, if no other read waits and this turn has time left, or in a later turn.
   */
  #runDeferrable(
    plan: Plan,
    input: CallInput,
    options: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult> {
    const { turns, deferred } = this.parts.inline;
    const mustWait = turns.mustWait(options.caller) || deferred.count > 0;
    if (!mustWait && this.parts.inline.allows(input.query, plan, input.body.length))
      return this.#runInline(plan, input, options);
    return deferred.add(options.caller, this.#later(plan, input, options));
  }

  /** Returns the read as a function for a later turn. The time until then counts against its time limit. */
  #later(
    plan: Plan,
    input: CallInput,
    options: CallOptions,
  ): () => ExecutionResult | Promise<ExecutionResult> {
    const budgetMs = this.#budgetOf(plan, options);
    const deadline = performance.now() + budgetMs;
    return () => {
      const left = deadline - performance.now();
      if (left <= 0) fail('QUERY_TIMEOUT', { ms: budgetMs });
      return this.#runInline(plan, input, { ...options, budgetMs: left });
    };
  }

  #runInline(
    plan: Plan,
    input: CallInput,
    options: CallOptions,
  ): ExecutionResult | Promise<ExecutionResult> {
    this.parts.checkAlive();
    const budgetMs = this.#budgetOf(plan, options);
    const result = this.parts.guard.run(input.schema, (view) =>
      this.parts.inline.run(view, plan, input, budgetMs, options),
    );
    return result ?? this.#runInLane(plan, input, options);
  }

  /**
   * Returns the error with which a call of this query with a body of this length would be refused, if that is
   * known already. Refusals must be cheap, because an overloaded server makes many.
   */
  refusal(name: string, bytes: number, caller: CallOptions['caller']): ErrorData | undefined {
    const entry = this.#queries.get(name);
    if (entry === undefined) return undefined;
    const { query, number } = entry;
    const { writer, dispatcher, inline, isInlineOnly } = this.parts;
    if (query.plan.writes) return writer.refusalFor(caller);
    const refusal = isInlineOnly ? undefined : dispatcher.refusalFor(caller);
    if (refusal === undefined) return undefined;
    const { plan } = query;
    const isHere =
      plan.embeds.length === 0 &&
      (inline.allows(number, plan, bytes) || inline.mayDefer(number, plan, bytes));
    return isHere ? undefined : refusal;
  }

  #runInLane(plan: Plan, input: CallInput, options: CallOptions): Promise<ExecutionResult> {
    const { checkAlive, disk, memory, writer, dispatcher, queryMetrics } = this.parts;
    checkAlive();
    if (memory.isShort) fail('OVERLOADED', { queue: 'The memory of this process' });
    if (plan.writes) disk.checkRoom(plan);
    const lanes = plan.writes ? writer : dispatcher;
    const refusal = lanes.refusalFor(options.caller);
    // Refuse before any work is done for the call.
    if (refusal !== undefined) throw new TrellisError(refusal);
    const caller = nameOf(options.caller);
    const budgetMs = this.#budgetOf(plan, options);
    return new Promise((resolve, reject) => {
      const call = callOf(plan, input, {
        budgetMs,
        caller,
        onWork: options.onWork,
        resolve,
        reject,
      });
      lanes.submit(call);
      options.onCancellable?.(() => {
        queryMetrics.cancelled++;
        dispatcher.cancel(call);
      });
    });
  }

  async #embedFirst(plan: Plan, input: CallInput, options: CallOptions): Promise<ExecutionResult> {
    const started = performance.now();
    const budgetMs = this.#budgetOf(plan, options);
    const carried = options.embeddings && new CarriedEmbeddings(options.embeddings);
    const deadline = started + budgetMs;
    const made = await embedTexts(this.parts.models, plan, input.args!, deadline, carried);
    const rest = { ...options, budgetMs: budgetMs - (performance.now() - started) };
    // The embedding belongs to this call.
    input.embeddings = embeddingsOf(made);
    if (!plan.writes && this.parts.isInlineOnly) return this.#runInline(plan, input, rest);
    return this.#runInLane(plan, input, rest);
  }

  /** See Database.embedAhead. */
  embedAhead(call: AheadCall, budgetMs: number): Promise<Uint8Array> | undefined {
    const { models, services } = this.parts;
    const query = 'name' in call ? this.#queries.get(call.name)?.query : undefined;
    const plan = 'plan' in call ? call.plan : query?.plan;
    if (plan === undefined || plan.embeds.length === 0) return undefined;
    const args = 'plan' in call ? call.args : decodeCall(query!, call.body, services);
    return embedTexts(models, plan, args, performance.now() + budgetMs).then(packEmbedded);
  }

  async embed(
    model: string | undefined,
    vectorType: string | undefined,
    texts: readonly string[],
    budgetMs: number,
    purpose?: Purpose,
  ): Promise<Float64Array[]> {
    const { models } = this.parts;
    const use = modelUse(models, model, vectorType, purpose ?? 'query');
    await checkTypeModel(models, use, vectorType, model !== undefined);
    return models.embedder.embed(use.model, texts, performance.now() + budgetMs, use);
  }
}

/** Returns what a repetition must have in common with the first write under the same key. */
function idempotencyKeyOf(
  { name, plan }: Query,
  { idempotency, profile }: CallOptions,
): IdempotencyKey | undefined {
  if (idempotency === undefined || !plan.writes) return undefined;
  return { ...idempotency, query: profile ? `${name}?profile` : name };
}
