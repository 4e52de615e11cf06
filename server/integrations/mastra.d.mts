// Types of `trellisdb/mastra`, for programs that have `@mastra/core`. Written by hand, because this package
// does not depend on it.
import {
  type CreateIndexParams,
  type DeleteIndexParams,
  type DeleteVectorParams,
  type DeleteVectorsParams,
  type DescribeIndexParams,
  type IndexStats,
  MastraVector,
  type QueryResult,
  type QueryVectorParams,
  type UpdateVectorParams,
  type UpsertVectorParams,
} from '@mastra/core/vector';
import type { Caller, Filter, PropertyType } from './store-types.mjs';

export type { Filter, PropertyType };

export interface TrellisIndex {
  properties?: Record<string, PropertyType>;
  metric?: 'cosine' | 'euclidean' | 'dotproduct';
}
export interface TrellisVectorConfig {
  id: string;
  caller: Caller;
  indexes: Record<string, TrellisIndex>;
}

export declare class TrellisVector extends MastraVector<Filter> {
  constructor(config: TrellisVectorConfig);
  declaration(indexName: string): string;
  createIndex(params: CreateIndexParams): Promise<void>;
  listIndexes(): Promise<string[]>;
  describeIndex(params: DescribeIndexParams): Promise<IndexStats>;
  deleteIndex(params: DeleteIndexParams): Promise<void>;
  upsert(params: UpsertVectorParams<Filter>): Promise<string[]>;
  query(params: QueryVectorParams<Filter>): Promise<QueryResult[]>;
  updateVector(params: UpdateVectorParams<Filter>): Promise<void>;
  deleteVector(params: DeleteVectorParams): Promise<void>;
  deleteVectors(params: DeleteVectorsParams<Filter>): Promise<void>;
}
