// A database in memory for session tests: plans run in the real executor over a naive store.
// Answers may be held back, so that calls overlap as they do with worker threads.
import { instantFromMicros } from '../../engine/base/date.js';
import { fail } from '../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../engine/base/limits.js';
import { emptySchema, type Schema } from '../../engine/base/schema.js';
import type { Scalar, ScalarList } from '../../engine/base/value.js';
import type { Database } from '../../engine/database/database.js';
import type { CallOptions } from '../../engine/database/call/options.js';
import type { Argument, ExecutionResult, ItemList } from '../../engine/exec/runtime/execute.js';
import { collectTexts, execute } from '../../engine/exec/run.js';
import { decodeParameters } from '../../engine/json/decode.js';
import type { Plan } from '../../engine/plan/plan.js';
import type { Program } from '../../engine/plan/program.js';
import { createTextIndex } from '../../engine/text/text-index.js';
import { keyedEmbeddings } from '../support/keyed-embeddings.js';
import { MemoryIndex } from '../support/memory-index.js';
import { MemoryView, memoryCatalog } from '../support/memory-view.js';

export const emptyProgram: Program = {
  schema: emptySchema,
  olderSchemas: [],
  migrations: [],
  queries: [],
  compat: false,
};

type Values = Record<string, Scalar | ScalarList>;

export class MemoryDatabase implements Pick<Database, 'program' | 'run' | 'call' | 'embed'> {
  program: Program;
  view: MemoryView;
  readonly indexes = new Map<number, MemoryIndex>();
  /** Gives the vector of a text; absent: no model. */
  model: ((text: string) => Float64Array) | undefined;
  /** While set, runs wait for this promise. */
  held: Promise<unknown> | undefined;
  /** Plans run so far. */
  readonly plans: Plan[] = [];
  readonly budgets: (number | undefined)[] = [];
  readonly #text;

  constructor(
    program: Program | Schema,
    readonly limits: Limits = defaultLimits,
  ) {
    this.program = 'schema' in program ? program : { ...emptyProgram, schema: program };
    this.view = new MemoryView(memoryCatalog(this.program.schema), limits);
    this.#text = createTextIndex(limits);
  }

  /** As the interface that the handler wants. */
  get face(): Database {
    return this as unknown as Database;
  }

  #label(name: string) {
    return this.view.catalog.labels().find((label) => label.name === name)!;
  }

  /** Dense ids; the n-th element ever made has id n. */
  addNode(type: string, values: Values): number {
    const map = new Map(Object.entries(values));
    const id = this.view.createNode(this.#label(type), map);
    this.#index(type, id, map);
    return id;
  }

  addVector(type: string, vector: number[], values: Values): number {
    const map = new Map(Object.entries(values));
    const id = this.view.createVector(this.#label(type), Float64Array.from(vector), map);
    this.#index(type, id, map);
    this.#publish();
    return id;
  }

  addEdge(type: string, from: number, to: number, values: Values = {}): number {
    return this.view.createEdge(this.#label(type), from, to, new Map(Object.entries(values)));
  }

  #index(type: string, id: number, values: Map<string, Scalar | ScalarList>): void {
    const texts = [...values.values()].flat().filter((value) => typeof value === 'string');
    this.#text.add(this.view, this.#label(type).id, id, texts);
  }

  /** Removes an element and, of a node or vector, its edges. */
  remove(id: number): void {
    for (const edge of this.view.incident(id)) this.view.remove(edge);
    this.view.remove(id);
    this.#publish();
  }

  update(id: number, values: Values): void {
    this.view.update([{ id, values: new Map(Object.entries(values)) }]);
  }

  #publish(): void {
    for (const change of this.view.pending.splice(0)) {
      let index = this.indexes.get(change.label);
      if (index === undefined) {
        index = new MemoryIndex(this.view.catalog.label(change.label).name);
        this.indexes.set(change.label, index);
      }
      if (change.kind === 'put') index.put(change.id, change.vector);
      else index.delete(change.id);
    }
  }

  run(
    plan: Plan,
    args: readonly Argument[],
    items: ItemList | undefined,
    options: CallOptions = {},
  ): ExecutionResult | Promise<ExecutionResult> {
    this.plans.push(plan);
    this.budgets.push(options.budgetMs);
    if (plan.embeds.length > 0)
      return this.#embedAll(plan, args).then((vectors) =>
        this.#execute(plan, args, items, vectors),
      );
    const execution = () => this.#execute(plan, args, items);
    return this.held === undefined ? execution() : this.held.then(execution);
  }

  #execute(
    plan: Plan,
    args: readonly Argument[],
    items?: ItemList,
    embeddings: ReadonlyMap<string, Float64Array> = new Map(),
  ): ExecutionResult {
    const view = plan.writes ? this.view.clone() : this.view;
    const result = execute(plan, args, {
      view,
      vectors: (label) => this.indexes.get(label),
      text: this.#text,
      now: instantFromMicros(1.7e15),
      limits: this.limits,
      cancelled: () => false,
      budgetMs: 1000,
      embeddings,
      ...(items && { items }),
    });
    this.view = view;
    this.#publish();
    return result;
  }

  async call(name: string, body: Uint8Array): Promise<Uint8Array> {
    const query = this.program.queries.find((each) => each.name === name);
    if (query === undefined) fail('NOT_FOUND', { name, kind: 'Query' });
    const args = decodeParameters(body, query.plan.parameters, name, this.limits);
    const embeddings = await this.#embedAll(query.plan, args);
    return this.#execute(query.plan, args, undefined, embeddings).body;
  }

  async #embedAll(plan: Plan, args: readonly Argument[]): Promise<Map<string, Float64Array>> {
    const texts = collectTexts(plan, args);
    const vectors = texts.length === 0 ? [] : await this.embed(undefined, undefined, texts);
    return keyedEmbeddings(plan, texts, vectors);
  }

  async embed(
    _model: string | undefined,
    _type: string | undefined,
    texts: readonly string[],
  ): Promise<Float64Array[]> {
    const { model } = this;
    if (model === undefined) fail('EMBEDDING_NOT_CONFIGURED', { what: 'no model is configured' });
    return texts.map(model);
  }
}
