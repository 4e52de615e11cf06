// Types of `trellisdb/langchain`, for programs that have `@langchain/core`. Written by hand, because this
// package does not depend on it.
import type { DocumentInterface } from '@langchain/core/documents';
import type { EmbeddingsInterface } from '@langchain/core/embeddings';
import { BaseRetriever } from '@langchain/core/retrievers';
import {
  type MaxMarginalRelevanceSearchOptions,
  VectorStore,
} from '@langchain/core/vectorstores';
import type { Caller, Filter, PropertyType } from './store-types.mjs';

export type { Filter, PropertyType };

export interface TrellisStoreConfig {
  caller: Caller;
  type: string;
  properties?: Record<string, PropertyType>;
  key?: string;
  text?: string;
  metadata?: string;
  /** With `Json`, filters can use every member of metadata. The default is `String`. */
  metadataType?: 'String' | 'Json';
}
export interface AddOptions {
  ids?: string[];
  deleteFilter?: Filter;
}

export declare class TrellisVectorStore extends VectorStore {
  FilterType: Filter;
  constructor(embeddings: EmbeddingsInterface, config: TrellisStoreConfig);
  get declaration(): string;
  _vectorstoreType(): string;
  addDocuments(documents: DocumentInterface[], options?: AddOptions): Promise<string[]>;
  addVectors(
    vectors: number[][],
    documents: DocumentInterface[],
    options?: AddOptions,
  ): Promise<string[]>;
  delete(params?: { ids?: string[]; filter?: Filter }): Promise<void>;
  similaritySearchVectorWithScore(
    query: number[],
    k: number,
    filter?: Filter,
  ): Promise<[DocumentInterface, number][]>;
  maxMarginalRelevanceSearch(
    query: string,
    options: MaxMarginalRelevanceSearchOptions<Filter>,
  ): Promise<DocumentInterface[]>;
  searchWithHops(
    question: string,
    k: number,
    hops: string,
    filter?: Filter,
  ): Promise<DocumentInterface[]>;
  static fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: EmbeddingsInterface,
    config: TrellisStoreConfig,
  ): Promise<TrellisVectorStore>;
  static fromDocuments(
    documents: DocumentInterface[],
    embeddings: EmbeddingsInterface,
    config: TrellisStoreConfig,
  ): Promise<TrellisVectorStore>;
}

export type Hop = { out: string } | { in: string } | { both: string };
export interface GraphRetrieverFields {
  store: TrellisVectorStore;
  hops: Hop[];
  k?: number;
  filter?: Filter;
}
export declare class TrellisGraphRetriever extends BaseRetriever {
  lc_namespace: string[];
  constructor(fields: GraphRetrieverFields);
  _getRelevantDocuments(question: string): Promise<DocumentInterface[]>;
}
