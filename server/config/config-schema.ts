// Defines the configuration as one schema: keys, types, ranges and defaults. Everything else about keys
// follows from this schema, including the text of messages. After reading, times are milliseconds and sizes
// are bytes.
import type { XStatic } from 'typebox/schema';
import { languageNames, limitTable, type Limits } from '../../engine/internal.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const hourMs = 3_600_000;

/**
 * JSON Schema of one key, as far as this file uses it. `unit` is what a number counts, and so decides the
 * suffixes of its text.
 */
export interface KeySchema {
  type?: 'string' | 'boolean' | 'integer' | 'number' | 'array';
  enum?: readonly string[];
  items?: { type: 'string' };
  /** A regular expression for a text. `form` describes it in messages. */
  pattern?: string;
  form?: string;
  minimum?: number;
  maximum?: number;
  unit?: 'bytes' | 'milliseconds';
  secret?: boolean;
  /**
   * Whether the key controls access. A configured but empty value is then an error, because a secret probably
   * did not arrive.
   */
  filled?: boolean;
  /** Whether "auto" is allowed. It means the default, a number outside the range. */
  auto?: boolean;
  default: unknown;
}

const text = (defaultValue: string) => ({ type: 'string', default: defaultValue }) as const;
/** The name of a file with keys, or a key itself. */
const address = () => ({ ...text(''), filled: true }) as const;
/** A text at the beginning of names. The protocol of the names allows only these characters. */
const namePrefix = () =>
  ({
    ...text(''),
    pattern: '^[A-Za-z0-9_-]{0,32}$',
    form: 'up to 32 letters, digits, `_` and `-`',
  }) as const;
const flag = (defaultValue: boolean) => ({ type: 'boolean', default: defaultValue }) as const;
const integer = (defaultValue: number, minimum: number, maximum: number) =>
  ({ type: 'integer', default: defaultValue, minimum, maximum }) as const;
const texts = () => ({ type: 'array', items: { type: 'string' }, default: [] }) as const;
const time = (defaultValue: number, maximum: number, minimum = 0) =>
  ({ ...integer(defaultValue, minimum, maximum), unit: 'milliseconds' }) as const;
const size = (defaultValue: number, maximum: number = Number.MAX_SAFE_INTEGER) =>
  ({ ...integer(defaultValue, 0, maximum), unit: 'bytes' }) as const;
const choice = <const T extends readonly string[]>(...values: T) =>
  ({ enum: values, default: values[0]! }) as const;
const section = <const T extends Record<string, object>>(properties: T) =>
  ({ type: 'object', properties }) as const;

/** Limits that 0 turns off; all others are at least 1. */
const offLimits: ReadonlySet<string> = new Set([
  'query_visits',
  'sessions_per_key',
  'session_idle',
  'connections_per_address',
  'streams_per_caller',
  'rate_per_key',
  'rate_per_address',
]);

const limitSchemas = Object.entries(limitTable).map(([name, limit]): [string, KeySchema] => {
  const schema = integer(limit.default, offLimits.has(name) ? 0 : 1, limit.hardMax);
  return [name, limit.unit === 'count' ? schema : { ...schema, unit: limit.unit }];
});

const metric = choice('cosine', 'dot', 'l2');
const m = integer(16, 2, 128);
const efConstruction = integer(128, 4, 4_096);
const efSearch = integer(128, 1, 10_000);

/** `vectors.<Type>.*`. Each key falls back to `[vectors]`. */
export const vectorTypeSchema = section({
  metric: metric,
  m: m,
  ef_construction: efConstruction,
  ef_search: efSearch,
  dimensions: integer(0, 1, 65_535),
  embedding_model: text(''),
  layout: choice('auto', 'fast', 'compact', 'flat'),
  resident: flag(true),
  store: choice('f64', 'f32'),
  exact: flag(false),
});

const configSchema = section({
  compat: choice('trellis', 'helix-2'),
  server: section({
    host: text('127.0.0.1'),
    port: integer(6969, 0, 65_535),
    /** 0 is replaced by the number of cores less one. */
    workers: integer(0, 1, 64),
    /** Threads that serve HTTP. 0 stands for half of the cores, at least 1. */
    http_threads: { ...integer(0, 1, 64), auto: true } as const,
    idle_time: time(120_000, 24 * hourMs, 1_000),
    drain_time: time(10_000, hourMs),
    exit_when_idle: time(0, 24 * hourMs),
    allowed_hosts: texts(),
    trust_proxy: flag(false),
    strict_members: flag(false),
    insecure_no_auth: flag(false),
    explorer: flag(true),
    ad_hoc_queries: flag(false),
    watch: flag(true),
    worker_heap: size(GiB, 64 * GiB),
    transport: choice('auto', 'uws', 'node'),
    /** SHA-256 of the operator's own build of uWebSockets.js. */
    transport_sha256: text(''),
  }),
  auth: section({
    keys_file: address(),
    api_key: { ...address(), secret: true } as const,
  }),
  cors: section({ origins: texts() }),
  tls: section({ cert: address(), key: address() }),
  limits: section(Object.fromEntries(limitSchemas)),
  sessions: section({ enabled: flag(true), schema_format: choice('object', 'string') }),
  mcp: section({
    enabled: flag(true),
    tools: choice('read', 'marked', 'none'),
    tools_max: integer(48, 1, 1_000),
    session_tools: flag(true),
    tool_prefix: namePrefix(),
    integers: choice('string', 'integer'),
    max_output_chars: integer(20_000, 200, 10_000_000),
    list_ttl: time(60_000, 24 * hourMs),
    body_bytes: size(4 * MiB, 256 * MiB),
    max_subscriptions: integer(256, 0, 100_000),
  }),
  storage: section({
    data_dir: text(''),
    min_free: size(GiB),
    max_bytes: size(0),
    read_only: flag(false),
    ballast: size(64 * MiB),
  }),
  vectors: section({
    metric,
    m,
    ef_construction: efConstruction,
    ef_search: efSearch,
    /** 0 is replaced by half of the memory. */
    memory_bytes: size(0),
  }),
  snapshot: section({
    interval: time(300_000, 24 * hourMs, 1_000),
    after_writes: integer(50_000, 1, Number.MAX_SAFE_INTEGER),
    keep: integer(2, 1, 16),
  }),
  text: section({
    enabled: flag(true),
    language: { enum: languageNames, default: 'english' } as const,
  }),
  embedding: section({
    model: text(''),
    timeout: time(30_000, 600_000, 1),
    retries: integer(3, 0, 10),
    cache_entries: integer(1_024, 0, 1_000_000),
    allow_private: flag(false),
    /** 0: what is usual for the provider. */
    batch_texts: integer(0, 0, 4_096),
    batch_tokens: integer(0, 0, 10_000_000),
    /** 0: those of the model. */
    dimensions: integer(0, 0, 65_535),
    task: choice('retrieval', 'similarity', 'classification', 'clustering', 'none'),
    concurrency: integer(16, 1, 64),
  }),
  log: section({
    level: choice('info', 'debug', 'warn', 'error'),
    format: choice('auto', 'json', 'text'),
    slow_after: time(100, hourMs),
    parameters: flag(false),
    access_sample_rate: { type: 'number', default: 0, minimum: 0, maximum: 1 } as const,
  }),
  audit: section({
    file: text(''),
    rotate_bytes: size(100 * MiB),
    keep: integer(10, 0, 1_000),
  }),
  types: section({
    out: text(''),
    int64: choice('number', 'bigint', 'string'),
    dates: choice('string', 'date'),
    split: flag(false),
  }),
  backup: section({ dir: text('') }),
  cluster: section({
    /** Empty: the server is not in a cluster. */
    log: text(''),
    name: text(''),
    node: text(''),
    advertise_address: text(''),
    role: choice('member', 'reader'),
    read_consistency: choice('session', 'local', 'strong'),
    max_lag: time(10_000, 24 * hourMs, 1),
    wait_timeout: time(1_000, 60_000),
    lease: time(3_000, 60_000, 500),
    append_timeout: time(20_000, 600_000, 100),
    log_retention: time(24 * hourMs, 8760 * hourMs, 1_000),
    log_retention_bytes: size(64 * GiB),
    schema_bytes: size(256 * MiB),
    /** Vector types that a reader node does not search. */
    skip_vectors: texts(),
    token_file: address(),
    secret_file: address(),
    tls_ca: address(),
    tls_cert: address(),
    tls_key: address(),
    allow_unsynced_log: flag(false),
    /** Allows a log on another machine without credentials or TLS. */
    insecure: flag(false),
    /**
     * All nodes that may lead, `NODE=HOST:PORT`. The leaders of the databases are spread over them.
     */
    members: texts(),
  }),
  tenants: section({
    /** Tenant databases that may be open at the same time. A node of a cluster opens all of them. */
    max_open: integer(16, 1, 1_000),
    idle_timeout: time(600_000, 24 * hourMs, 100),
    /** Reader threads of each tenant database. */
    workers: integer(1, 1, 64),
  }),
  sharding: section({
    /** After this long without a reply, the request to a shard is repeated on another node. */
    hedge_after: time(2, 60_000),
  }),
});

type Section<T> = { [K in keyof T]-?: NonNullable<T[K]> };
type Sections<T> = {
  [K in keyof T]-?: NonNullable<T[K]> extends object
    ? Section<NonNullable<T[K]>>
    : NonNullable<T[K]>;
};

/** Sections with their keys; every key has a value. */
export type ConfigValues = Omit<Sections<XStatic<typeof configSchema>>, 'limits'> & {
  limits: Limits;
};
export type VectorTypeConfig = XStatic<typeof vectorTypeSchema>;

/** Every fixed key, such as `server.port`, with the schema of its value. */
export const keySchemas: ReadonlyMap<string, KeySchema> = collectKeys(configSchema.properties, '');

type Tree = { [name: string]: object };

function collectKeys(properties: Tree, prefix: string): Map<string, KeySchema> {
  const keys = new Map<string, KeySchema>();
  for (const [name, inner] of Object.entries(properties)) {
    if ('properties' in inner) {
      const deep = collectKeys(inner.properties as Tree, `${prefix}${name}.`);
      for (const [key, leaf] of deep) keys.set(key, leaf);
    } else keys.set(prefix + name, inner as KeySchema);
  }
  return keys;
}

/** Returns the schema of a key, including per-type vector keys, or undefined for an unknown key. */
export function schemaOf(key: string): KeySchema | undefined {
  const known = keySchemas.get(key);
  if (known !== undefined) return known;
  if (/^embedding\.prefixes\.(query|document)$/.test(key)) return text('');
  if (/^tenants\.databases\.[a-z0-9][a-z0-9_-]{0,62}$/.test(key)) return text('');
  if (/^sharding\.types\.[A-Za-z_][A-Za-z0-9_]{0,50}$/.test(key)) return integer(1, 1, 1_024);
  const match = /^vectors\.([A-Za-z_][A-Za-z0-9_]*)\.([a-z_]+)$/.exec(key);
  const types: Tree = vectorTypeSchema.properties;
  if (match === null || !Object.hasOwn(types, match[2]!)) return undefined;
  return types[match[2]!] as KeySchema;
}
