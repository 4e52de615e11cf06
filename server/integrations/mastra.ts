// `trellisdb/mastra`: a vector store of Mastra for any caller. An index is a vector type that the project
// declares; calls can neither create nor delete one. Each method is one request. Invariant: a query returns k
// vectors if k vectors match its filter.
import type { Filter, PropertyType } from './filter.js';
import { VectorType, type VectorTypeConfig } from './vector-type.js';

/** The parts of `@mastra/core` that are used. The importing program has it installed. */
interface Core {
  MastraVector: abstract new (config: { id: string }) => { id: string };
}
const packageName = '@mastra/core';
const core: Core = await import(`${packageName}/vector`);

type Metadata = Record<string, unknown>;
export type Metric = 'cosine' | 'euclidean' | 'dotproduct';

export interface TrellisIndex {
  /** Members of metadata that filters can use, with the types of their properties. */
  properties?: Record<string, PropertyType>;
  /** Names of the metrics in Mastra, by `vectors.metric` of the server. */
  metric?: Metric;
}

export interface TrellisVectorConfig {
  id: string;
  /**
   * A connection of `trellisdb/client` to a server with `server.ad_hoc_queries`, or the result of `open`.
   */
  caller: VectorTypeConfig['caller'];
  /** Settings by name of the vector type. */
  indexes: Record<string, TrellisIndex>;
}

interface OfIndex {
  indexName: string;
}
export interface UpsertParams extends OfIndex {
  vectors: number[][];
  metadata?: Metadata[];
  ids?: string[];
  /**
   * Deletes the vectors that match this filter in the same transaction, before it adds the new ones.
   */
  deleteFilter?: Filter;
  sparseVectors?: unknown[];
}
export interface QueryParams extends OfIndex {
  /** If absent, all vectors that match the filter. */
  queryVector?: number[];
  topK?: number;
  filter?: Filter;
  includeVector?: boolean;
  sparseVector?: unknown;
}
export interface UpdateParams extends OfIndex {
  id?: string;
  filter?: Filter;
  update: { vector?: number[]; metadata?: Metadata };
}

interface Hit {
  key: string;
  metadata: string | null;
  score?: number;
  data?: number[];
}

export class TrellisVector extends core.MastraVector {
  readonly #indexes: Map<string, VectorType>;
  readonly #metrics: Map<string, Metric>;

  constructor({ id, caller, indexes }: TrellisVectorConfig) {
    super({ id });
    const entries = Object.entries(indexes);
    this.#indexes = new Map(
      entries.map(([type, { properties = {} }]) => [
        type,
        new VectorType({ caller, type, properties }),
      ]),
    );
    this.#metrics = new Map(entries.map(([type, { metric = 'cosine' }]) => [type, metric]));
  }

  /** Returns the declarations that a project needs for an index. */
  declaration(indexName: string): string {
    return this.#of(indexName).declaration;
  }

  #of(indexName: string): VectorType {
    const type = this.#indexes.get(indexName);
    if (type === undefined) throw new TypeError(`${indexName} is not in \`indexes\` of the store.`);
    return type;
  }

  /** Checks that the project declares the index with the requested settings. */
  async createIndex(params: OfIndex & { dimension: number; metric?: Metric }): Promise<void> {
    const { indexName, dimension, metric = 'cosine' } = params;
    const there = await this.describeIndex({ indexName });
    const isOther = there.count > 0 && there.dimension !== dimension;
    if (isOther) throw new TypeError(`${indexName} has ${there.dimension} dimensions.`);
    if (metric !== there.metric) throw new TypeError(`${indexName} measures by ${there.metric}.`);
  }

  async listIndexes(): Promise<string[]> {
    return [...this.#indexes.keys()];
  }

  /** The dimension is that of the vectors; 0 without vectors. */
  async describeIndex({ indexName }: OfIndex) {
    const of = this.#of(indexName);
    const lines = [
      'QUERY describe() =>',
      `count <- V<${of.type}>::COUNT`,
      `some <- V<${of.type}>::RANGE(0, 1)::{data}`,
      'RETURN count, some',
    ];
    const { count, some } = await of.run<{ count: number; some: { data: number[] }[] }>(lines, {});
    const metric = this.#metrics.get(indexName)!;
    return { dimension: some[0]?.data.length ?? 0, count, metric };
  }

  /** Deletes the vectors of the index. The project still declares its type. */
  async deleteIndex({ indexName }: OfIndex): Promise<void> {
    const { type } = this.#of(indexName);
    const lines = ['QUERY empty() =>', `DROP V<${type}>`, 'RETURN "done"'];
    await this.#of(indexName).run(lines, {}, true);
  }

  async upsert(params: UpsertParams): Promise<string[]> {
    const { indexName, vectors, metadata = [], deleteFilter, sparseVectors } = params;
    if (sparseVectors !== undefined) refuseSparse();
    const ids = vectors.map((_, at) => params.ids?.[at] ?? crypto.randomUUID());
    const rows = vectors.map((vector, at) => {
      const about = metadata[at] ?? {};
      const text = typeof about.text === 'string' ? about.text : '';
      return { vector, key: ids[at]!, text, metadata: about };
    });
    await this.#of(indexName).put(rows, deleteFilter);
    return ids;
  }

  async query(params: QueryParams) {
    const { indexName, queryVector, topK = 10, filter, includeVector = false } = params;
    if (params.sparseVector !== undefined) refuseSparse();
    const of = this.#of(indexName);
    const only = filter && of.condition(filter);
    if (queryVector === undefined && only === undefined)
      throw new TypeError('query: queryVector or a filter');
    const found =
      queryVector === undefined
        ? `V<${of.type}>::WHERE(${only!.text})::RANGE(0, k)`
        : `SearchV<${of.type}>(vector, k)${only ? `::PREFILTER(${only.text})` : ''}`;
    const { key, metadata } = of.names;
    const members = [`key: ${key}`, `metadata: ${metadata}`];
    if (queryVector !== undefined) members.push('score');
    if (includeVector) members.push('data');
    const vector = queryVector && { vector: queryVector };
    const lines = [
      `QUERY search(k: I64${vector ? ', vector: [F64]' : ''}${only?.declared ?? ''}) =>`,
      `hits <- ${found}`,
      `RETURN hits::{${members.join(', ')}}`,
    ];
    const { hits } = await of.run<{ hits: Hit[] }>(lines, { ...only?.values, ...vector, k: topK });
    return hits.map(({ key: id, metadata: about, score = 0, data }) => ({
      id,
      score,
      metadata: about === null ? {} : (JSON.parse(about) as Metadata),
      ...(data && { vector: data }),
    }));
  }

  /** Updates one vector by its id, or all that match a filter. New metadata replaces the old. */
  async updateVector({ indexName, id, filter, update }: UpdateParams): Promise<void> {
    const of = this.#of(indexName);
    const only = filter && of.condition(filter);
    if ((id === undefined) === (only === undefined))
      throw new TypeError('updateVector: an id or a filter');
    const { vector, metadata } = update;
    if (vector === undefined && metadata === undefined)
      throw new TypeError('updateVector: a vector or metadata');
    const about = metadata && of.replacing(metadata);
    const text = metadata && typeof metadata.text === 'string' ? metadata.text : undefined;
    const set = [...(about?.set ?? []), ...(text === undefined ? [] : [`${of.names.text}: text`])];
    const which = only ? `WHERE(${only.text})` : `WHERE(_::{${of.names.key}}::EQ(id))`;
    const declared = [
      ...(only ? [] : ['id: String']),
      ...(vector ? ['vector: [F64]'] : []),
      ...(text === undefined ? [] : ['text: String']),
    ].join(', ');
    const change = vector ? `UpsertV(vector, {${set.join(', ')}})` : `UPDATE({${set.join(', ')}})`;
    const head = `${declared}${about?.declared ?? ''}${only?.declared ?? ''}`.replace(/^, /, '');
    const lines = [
      `QUERY change(${head}) =>`,
      `FOR one IN V<${of.type}>::${which} { one::${change} }`,
      'RETURN "done"',
    ];
    const inputs = { ...(id !== undefined && { id }), ...(vector && { vector }) };
    const texts = text === undefined ? {} : { text };
    await of.run(lines, { ...only?.values, ...about?.values, ...inputs, ...texts }, true);
  }

  async deleteVector({ indexName, id }: OfIndex & { id: string }): Promise<void> {
    await this.#of(indexName).drop([id]);
  }

  async deleteVectors(params: OfIndex & { ids?: string[]; filter?: Filter }): Promise<void> {
    const { indexName, ids, filter } = params;
    if ((ids === undefined) === (filter === undefined))
      throw new TypeError('deleteVectors: ids or a filter');
    await this.#of(indexName).drop(ids, filter);
  }
}

function refuseSparse(): never {
  throw new TypeError('Sparse vectors are not stored: give texts to SearchBM25 instead.');
}
