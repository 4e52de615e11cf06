// `trellisdb/langchain`: a vector store and a graph retriever of LangChain.js for any caller, a connection or
// a database in this process. Each method is one request. Invariant: a search returns k documents if k
// documents match its filter.
import type { Filter } from './filter.js';
import { nameOf, readMetadata, VectorType, type VectorTypeConfig } from './vector-type.js';

/** The parts of `@langchain/core` that are used. The importing program has it installed. */
interface Core {
  VectorStore: abstract new (embeddings: Embeddings, config: object) => { embeddings: Embeddings };
  BaseRetriever: abstract new (fields?: object) => object;
}
const packageName = '@langchain/core';
const core: Core = {
  ...(await import(`${packageName}/vectorstores`)),
  ...(await import(`${packageName}/retrievers`)),
};

export interface Embeddings {
  embedDocuments(texts: string[]): Promise<number[][]>;
  embedQuery(text: string): Promise<number[]>;
}
export interface Document {
  pageContent: string;
  metadata: Record<string, unknown>;
  id?: string;
}

export type TrellisStoreConfig = VectorTypeConfig;

interface Hit {
  key: string;
  text: string;
  metadata: unknown;
  score?: number;
}
export interface AddOptions {
  /** One id for each document. An existing document with the same id is replaced. */
  ids?: string[];
  /**
   * Deletes the documents that match this filter in the same transaction, before it adds the new ones.
   */
  deleteFilter?: Filter;
}

export class TrellisVectorStore extends core.VectorStore {
  declare FilterType: Filter;
  readonly #type: VectorType;

  constructor(embeddings: Embeddings, config: TrellisStoreConfig) {
    super(embeddings, config);
    this.#type = new VectorType(config);
  }

  _vectorstoreType(): string {
    return 'trellisdb';
  }

  /** Returns the declarations that a project needs for this store. */
  get declaration(): string {
    return this.#type.declaration;
  }

  async addDocuments(documents: Document[], options: AddOptions = {}): Promise<string[]> {
    const texts = documents.map(({ pageContent }) => pageContent);
    const vectors = await this.embeddings.embedDocuments(texts);
    return this.addVectors(vectors, documents, options);
  }

  async addVectors(
    vectors: number[][],
    documents: Document[],
    options: AddOptions = {},
  ): Promise<string[]> {
    const ids = documents.map(({ id }, at) => options.ids?.[at] ?? id ?? crypto.randomUUID());
    const rows = documents.map(({ pageContent, metadata = {} }, at) => {
      return { vector: vectors[at]!, key: ids[at]!, text: pageContent, metadata };
    });
    await this.#type.put(rows, options.deleteFilter);
    return ids;
  }

  /** Deletes by ids, by a filter, or by both. Without either it deletes nothing. */
  async delete({ ids, filter }: { ids?: string[]; filter?: Filter } = {}): Promise<void> {
    if (ids === undefined && filter === undefined) throw new TypeError('delete: ids or a filter');
    await this.#type.drop(ids, filter);
  }

  async similaritySearchVectorWithScore(
    query: number[],
    k: number,
    filter?: Filter,
  ): Promise<[Document, number][]> {
    const { hits } = await this.#search(query, k, filter);
    return hits.map((hit) => [documentOf(hit), hit.score!]);
  }

  async maxMarginalRelevanceSearch(
    query: string,
    options: { k: number; fetchK?: number; lambda?: number; filter?: Filter },
  ): Promise<Document[]> {
    const { k, fetchK = 20, lambda = 0.5, filter } = options;
    const vector = await this.embeddings.embedQuery(query);
    const steps = '::RerankMMR(lambda: lambda)::RANGE(0, most)';
    const parameters = { lambda, most: k };
    const declared = ', lambda: F64, most: I64';
    const fetched = Math.max(fetchK, k);
    const { hits } = await this.#search(vector, fetched, filter, { steps, declared, parameters });
    return hits.map(documentOf);
  }

  /** Returns the nearest documents after `steps` or `more`, in one request. */
  async #search(
    vector: number[],
    k: number,
    filter: Filter | undefined,
    rest: { steps?: string; more?: string; declared?: string; parameters?: object } = {},
  ): Promise<{ hits: Hit[]; more?: Hit[] }> {
    const only = filter && this.#type.condition(filter);
    const { steps = '', more, declared = '', parameters = {} } = rest;
    const prefilter = only ? `::PREFILTER(${only.text})` : '';
    const { key, text, metadata } = this.#type.names;
    const named = `key: ${key}, text: ${text}, metadata: ${metadata}`;
    const lines = [
      `QUERY search(vector: [F64], k: I64${declared}${only?.declared ?? ''}) =>`,
      `hits <- SearchV<${this.#type.type}>(vector, k)${prefilter}${steps}`,
      ...(more === undefined ? [] : [`more <- hits${more}`]),
      `RETURN hits::{${named}, score}${more === undefined ? '' : `, more::{${named}}`}`,
    ];
    return this.#type.run(lines, { ...only?.values, ...parameters, vector, k });
  }

  /**
   * Returns the documents nearest to a question and those that the hops reach from them, without
   * duplicates, nearest first.
   */
  async searchWithHops(question: string, k: number, hops: string, filter?: Filter) {
    const vector = await this.embeddings.embedQuery(question);
    const { hits, more = [] } = await this.#search(vector, k, filter, { more: `${hops}::DEDUP` });
    const found = new Map([...hits, ...more].reverse().map((hit) => [hit.key, hit]));
    const order = [...new Set([...hits, ...more].map(({ key }) => key))];
    return order.map((key) => documentOf(found.get(key)!));
  }

  static async fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: Embeddings,
    config: TrellisStoreConfig,
  ): Promise<TrellisVectorStore> {
    const documents = texts.map((pageContent, at) => ({
      pageContent,
      metadata: { ...(Array.isArray(metadatas) ? metadatas[at] : metadatas) },
    }));
    return TrellisVectorStore.fromDocuments(documents, embeddings, config);
  }

  static async fromDocuments(
    documents: Document[],
    embeddings: Embeddings,
    config: TrellisStoreConfig,
  ): Promise<TrellisVectorStore> {
    const store = new TrellisVectorStore(embeddings, config);
    await store.addDocuments(documents);
    return store;
  }
}

function documentOf({ key, text, metadata }: Hit): Document {
  return { id: key, pageContent: text, metadata: readMetadata(metadata) };
}

/** An edge type with its direction: `{out: 'Mentions'}`, `{in: 'Mentions'}`, `{both: 'Cites'}`. */
export type Hop = { out: string } | { in: string } | { both: string };

export interface GraphRetrieverFields {
  store: TrellisVectorStore;
  /** Edges to follow from the nearest documents to others of the same type. */
  hops: Hop[];
  k?: number;
  filter?: Filter;
}

/** Searches, then follows edges from the nearest documents. */
export class TrellisGraphRetriever extends core.BaseRetriever {
  readonly lc_namespace = ['trellisdb', 'retrievers'];
  readonly #fields: GraphRetrieverFields;

  constructor(fields: GraphRetrieverFields) {
    super();
    this.#fields = fields;
  }

  static lc_name(): string {
    return 'TrellisGraphRetriever';
  }

  _getRelevantDocuments(question: string): Promise<Document[]> {
    const { store, hops, k = 4, filter } = this.#fields;
    const steps = hops.map((hop) => {
      const [[direction, edge]] = Object.entries(hop) as [[string, string]];
      return `::${{ out: 'Out', in: 'In', both: 'Both' }[direction]}<${nameOf(edge)}>`;
    });
    return store.searchWithHops(question, k, steps.join(''), filter);
  }
}
