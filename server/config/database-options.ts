// Converts the keys of trellis.toml into the options of a database. No other file does.
import {
  type DatabaseOptions,
  type EmbedderOptions,
  type IndexOptions,
  type Program,
  createEmbedder,
} from '../../engine/internal.js';
import { clusterOptions } from './cluster-options.js';
import { memoryBytes } from './memory.js';
import type { Config } from './config.js';
import type { VectorTypeConfig } from './config-schema.js';
import { maxOpen, programFor } from './tenant-config.js';
import type { Log } from '../telemetry/log.js';

const MiB = 1024 * 1024;

function typeOptions(config: VectorTypeConfig): DatabaseOptions['vectors']['types'][string] {
  const { metric, m, ef_construction, ef_search, layout, resident, exact } = config;
  const { dimensions, embedding_model, store } = config;
  const options = {
    metric,
    m,
    efConstruction: ef_construction,
    efSearch: ef_search,
    layout,
    resident,
    exact,
    dimensions,
    embeddingModel: embedding_model,
    store,
  };
  // Absent keys must not hide the defaults that they fall back to.
  const present = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present);
}

/** Callbacks that count the calls of embedding providers. */
export type EmbeddingEvents = Pick<EmbedderOptions, 'onCall' | 'onCached'>;

export function databaseOptions(
  config: Config,
  program: Program,
  log: Log,
  events: EmbeddingEvents = {},
): DatabaseOptions {
  const { vectors, embedding, snapshot, server, storage } = config;
  const defaultIndex: IndexOptions = {
    metric: vectors.metric,
    m: vectors.m,
    efConstruction: vectors.ef_construction,
    efSearch: vectors.ef_search,
    layout: 'auto',
    exact: false,
    // All databases that are open at the same time share the memory.
    memoryBytes: Math.floor(vectors.memory_bytes / (1 + maxOpen(config))),
  };
  const cluster = clusterOptions(config);
  const types = Object.entries(config.vectorTypes).map(([name, type]) => [name, typeOptions(type)]);
  return {
    dataDir: config.dataDir,
    program: programFor(config, program),
    ...(config.shard && { shard: { at: config.shard.at, of: config.shard.of } }),
    limits: config.limits,
    workers: server.workers,
    embedder: createEmbedder({
      environment: config.environment,
      withheld: config.withheld,
      timeoutMs: embedding.timeout,
      retries: embedding.retries,
      cacheEntries: embedding.cache_entries,
      allowPrivate: embedding.allow_private,
      batchTexts: embedding.batch_texts || undefined,
      batchTokens: embedding.batch_tokens || undefined,
      dimensions: embedding.dimensions || undefined,
      task: embedding.task,
      prefixes: config.embeddingPrefixes,
      concurrency: embedding.concurrency,
      ...events,
    }),
    ...(embedding.model === '' ? {} : { embeddingModel: embedding.model }),
    vectors: { default: defaultIndex, types: Object.fromEntries(types) },
    textEnabled: config.text.enabled,
    textLanguage: config.text.language,
    strictMembers: server.strict_members,
    readOnly: storage.read_only,
    minFreeBytes: storage.min_free,
    maxBytes: storage.max_bytes,
    ballastBytes: storage.ballast,
    processBytes: memoryBytes(),
    snapshot: {
      intervalMs: snapshot.interval,
      afterWrites: snapshot.after_writes,
      keep: snapshot.keep,
    },
    workerHeapMb: Math.max(64, Math.round(server.worker_heap / MiB)),
    ...(config.failpoint === undefined ? {} : { failpoint: config.failpoint }),
    ...(cluster && { cluster }),
    log,
  };
}
