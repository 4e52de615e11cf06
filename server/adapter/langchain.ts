// `trellisdb/langchain`: a vector store and a graph retriever of LangChain.js over any caller, a connection or
// a database inside this process. Each method is one request: the query that it needs is written here, with
// values as parameters, never as text. Invariant: a search answers k documents when k match its filter.
import type { Caller } from '../client/client.js';
import { conditionOf, type Filter, type PropertyType, type Value } from './filter.js';

/** What is used of `@langchain/core`, which the program that imports this has installed. */
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

export interface TrellisStoreConfig {
  /** A connection of `trellisdb/client` to a server with `server.adhoc`, or what `open` gives. */
  caller: Caller;
  /** The vector type that holds the documents. */
  type: string;
  /** Members of metadata that filters may ask, with the types of their properties. */
  properties?: Record<string, PropertyType>;
  /** Names of the properties of key, text and metadata. */
  key?: string;
  text?: string;
  metadata?: string;
}

interface Hit {
  key: string;
  text: string;
  metadata: string | null;
  score?: number;
}
interface Written {
  source: string;
  parameters: Record<string, unknown>;
}

export interface AddOptions {
  /** One a document; what is there under one of them is replaced. */
  ids?: string[];
  /** What matches goes in the same transaction, before the documents come. */
  deleteFilter?: Filter;
}

class DeclarationMissing extends Error {
  override readonly name = 'DeclarationMissing';
  constructor(declaration: string) {
    super(`The project needs this declaration:\n\n${declaration}\n`);
  }
}

export class TrellisVectorStore extends core.VectorStore {
  declare FilterType: Filter;
  readonly #caller: Caller;
  readonly #type: string;
  readonly #properties: [name: string, type: PropertyType][];
  readonly #names: { key: string; text: string; metadata: string };
  #checked: Promise<void> | undefined;

  constructor(embeddings: Embeddings, config: TrellisStoreConfig) {
    super(embeddings, config);
    const { caller, type, properties = {}, key = 'key', text = 'text' } = config;
    this.#caller = caller;
    this.#type = nameOf(type);
    this.#properties = Object.entries(properties).map(([name, of]) => [nameOf(name), of]);
    const metadata = nameOf(config.metadata ?? 'metadata');
    this.#names = { key: nameOf(key), text: nameOf(text), metadata };
  }

  _vectorstoreType(): string {
    return 'trellisdb';
  }

  /** What a project declares for this store. */
  get declaration(): string {
    const { key, text, metadata } = this.#names;
    const fields = [`UNIQUE INDEX ${key}: String`, `${text}: String`, `${metadata}: String`];
    fields.push(...this.#properties.map(([name, type]) => `${name}: ${type}`));
    return `V::${this.#type} {\n${fields.map((field) => `    ${field}`).join(',\n')}\n}`;
  }

  /** Fails with the declaration to paste where the type is not as this store needs it. */
  #check(): Promise<void> {
    const { key, text, metadata } = this.#names;
    const names = [key, text, metadata, ...this.#properties.map(([name]) => name)];
    const source = `V<${this.#type}>::RANGE(0, 0)::{${names.join(', ')}}`;
    this.#checked ??= this.#run({ source, parameters: {} }).then(
      () => undefined,
      (error: Error & { code?: string }) => {
        this.#checked = undefined;
        if (error.code !== 'QUERY_INVALID') throw error;
        throw new DeclarationMissing(this.declaration);
      },
    );
    return this.#checked;
  }

  #run<T>({ source, parameters }: Written, write = false): Promise<T> {
    // Every write here can be done twice with the same result; the caller need not know.
    return this.#caller.call<T>('_query', { source, parameters, write }, { writes: write });
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
    await this.#check();
    const ids = documents.map(({ id }, at) => options.ids?.[at] ?? id ?? crypto.randomUUID());
    const rows = documents.map(({ pageContent, metadata = {} }, at) => ({
      vector: vectors[at],
      key: ids[at],
      text: pageContent,
      metadata: JSON.stringify(metadata),
      ...Object.fromEntries(
        this.#properties.map(([name]) => [`p_${name}`, metadata[name] ?? null]),
      ),
    }));
    const drop = options.deleteFilter && this.#condition(options.deleteFilter);
    const { key, text, metadata } = this.#names;
    const own = this.#properties.map(([name, type]) => `p_${name}?: ${type}`);
    const row = ['vector: [F64]', 'key: String', 'text: String', 'metadata: String', ...own];
    const loop = row.map((field) => field.split(/[?:]/)[0]);
    const set = [`${key}: key`, `${text}: text`, `${metadata}: metadata`];
    set.push(...this.#properties.map(([name]) => `${name}: p_${name}`));
    const source = [
      `QUERY put(rows: [{${row.join(', ')}}], ids: [String]${drop?.declared ?? ''}) =>`,
      ...(drop ? [`DROP V<${this.#type}>::WHERE(${drop.text})`] : []),
      `FOR id IN ids { DROP V<${this.#type}>({${key}: id}) }`,
      `FOR {${loop.join(', ')}} IN rows { AddV<${this.#type}>(vector, {${set.join(', ')}}) }`,
      'RETURN "done"',
    ].join('\n');
    await this.#run({ source, parameters: { ...drop?.values, rows, ids } }, true);
    return ids;
  }

  /** By ids, by a filter, or both; without either nothing is deleted. */
  async delete({ ids, filter }: { ids?: string[]; filter?: Filter } = {}): Promise<void> {
    if (ids === undefined && filter === undefined) throw new TypeError('delete: ids or a filter');
    await this.#check();
    const drop = filter && this.#condition(filter);
    const lines = [
      `QUERY drop(ids: [String]${drop?.declared ?? ''}) =>`,
      `FOR id IN ids { DROP V<${this.#type}>({${this.#names.key}: id}) }`,
      ...(drop ? [`DROP V<${this.#type}>::WHERE(${drop.text})`] : []),
      'RETURN "done"',
    ];
    const parameters = { ...drop?.values, ids: ids ?? [] };
    await this.#run({ source: lines.join('\n'), parameters }, true);
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

  /** The nearest, and what `steps` or `more` make of them, in one request. */
  async #search(
    vector: number[],
    k: number,
    filter: Filter | undefined,
    rest: { steps?: string; more?: string; declared?: string; parameters?: object } = {},
  ): Promise<{ hits: Hit[]; more?: Hit[] }> {
    await this.#check();
    const only = filter && this.#condition(filter);
    const { steps = '', more, declared = '', parameters = {} } = rest;
    const kept = only ? `::PREFILTER(${only.text})` : '';
    const { key, text, metadata } = this.#names;
    const named = `key: ${key}, text: ${text}, metadata: ${metadata}`;
    const source = [
      `QUERY search(vector: [F64], k: I64${declared}${only?.declared ?? ''}) =>`,
      `hits <- SearchV<${this.#type}>(vector, k)${kept}${steps}`,
      ...(more === undefined ? [] : [`more <- hits${more}`]),
      `RETURN hits::{${named}, score}${more === undefined ? '' : `, more::{${named}}`}`,
    ].join('\n');
    return this.#run({ source, parameters: { ...only?.values, ...parameters, vector, k } });
  }

  #condition(filter: Filter): { text: string; declared: string; values: Record<string, Value> } {
    return conditionOf(filter, new Map(this.#properties));
  }

  /** The nearest of a question and what the hops reach from them, each once, the nearest first. */
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
  const known = metadata === null ? {} : (JSON.parse(metadata) as Record<string, unknown>);
  return { id: key, pageContent: text, metadata: known };
}

/** Names stand in queries as they are: they have to be names. */
function nameOf(name: string): string {
  if (!/^[A-Za-z]\w*$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name.`);
  return name;
}

/** `{out: 'Mentions'}`, `{in: 'Mentions'}`, `{both: 'Cites'}`. */
export type Hop = { out: string } | { in: string } | { both: string };

export interface GraphRetrieverFields {
  store: TrellisVectorStore;
  /** From the nearest documents over these edges to others of the same type. */
  hops: Hop[];
  k?: number;
  filter?: Filter;
}

/** Searches, then follows edges: what belongs to the nearest comes with them. */
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
      const [[way, edge]] = Object.entries(hop) as [[string, string]];
      return `::${{ out: 'Out', in: 'In', both: 'Both' }[way]}<${nameOf(edge)}>`;
    });
    return store.searchWithHops(question, k, steps.join(''), filter);
  }
}
