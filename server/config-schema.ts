// The configuration as one schema (operations.md 2): keys, types, ranges and defaults. Everything else about keys, the text
// of messages included, is read off this schema. Times are milliseconds and sizes bytes once they have been read.
import Type, { type Static, type TSchema } from 'typebox';
import { limitTable, type Limits } from '../engine/index.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const hourMs = 3_600_000;

/** What a number counts; decides which suffixes its text may have. */
export type Unit = 'bytes' | 'milliseconds';

const text = (standard: string) => Type.String({ default: standard });
const flag = (standard: boolean) => Type.Boolean({ default: standard });
const integer = (standard: number, minimum: number, maximum: number) =>
  Type.Integer({ default: standard, minimum, maximum });
const texts = () => Type.Array(Type.String(), { default: [] });
const time = (standard: number, maximum: number, minimum = 0) =>
  Type.Integer({ default: standard, minimum, maximum, unit: 'milliseconds' });
const size = (standard: number, maximum: number = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ default: standard, minimum: 0, maximum, unit: 'bytes' });

function choice<const T extends string>(...values: T[]) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    { default: values[0]! },
  ) as unknown as ReturnType<typeof Type.Unsafe<T>>;
}

/** Limits where 0 switches off (http.md 7); all others are at least 1. */
const offLimits: ReadonlySet<string> = new Set([
  'query_visits',
  'sessions_per_key',
  'session_idle',
  'rate_per_key',
  'rate_per_address',
]);

const limitSchemas = Object.entries(limitTable).map(([name, limit]): [string, TSchema] => [
  name,
  Type.Integer({
    default: limit.default,
    minimum: offLimits.has(name) ? 0 : 1,
    maximum: limit.hardMax,
    ...(limit.unit === 'count' ? {} : { unit: limit.unit }),
  }),
]);

const metric = choice('cosine', 'dot', 'l2');
const m = integer(16, 2, 128);
const efConstruction = integer(128, 4, 4_096);
const efSearch = integer(128, 1, 10_000);

/** `vectors.<Type>.*`; each key falls back to `[vectors]`. */
export const vectorTypeSchema = Type.Object({
  metric: Type.Optional(metric),
  m: Type.Optional(m),
  ef_construction: Type.Optional(efConstruction),
  ef_search: Type.Optional(efSearch),
  dimensions: Type.Optional(integer(0, 1, 65_535)),
  embedding_model: Type.Optional(text('')),
  layout: Type.Optional(choice('auto', 'fast', 'compact', 'flat')),
  store: Type.Optional(choice('f64', 'f32')),
  exact: Type.Optional(flag(false)),
});

export const configSchema = Type.Object({
  compat: choice('trellis', 'helix-2'),
  server: Type.Object({
    host: text('127.0.0.1'),
    port: integer(6969, 0, 65_535),
    /** 0 is replaced by the number of cores less one. */
    workers: integer(0, 1, 64),
    idle_time: time(120_000, 24 * hourMs, 1_000),
    drain_time: time(10_000, hourMs),
    allowed_hosts: texts(),
    trust_proxy: flag(false),
    strict_members: flag(false),
    insecure_no_auth: flag(false),
    explorer: flag(true),
    watch: flag(true),
    worker_heap: size(GiB, 64 * GiB),
    transport: choice('auto', 'uws', 'node'),
  }),
  auth: Type.Object({
    keys_file: text(''),
    api_key: Type.String({ default: '', secret: true }),
  }),
  cors: Type.Object({ origins: texts() }),
  tls: Type.Object({ cert: text(''), key: text('') }),
  limits: Type.Object(Object.fromEntries(limitSchemas)) as unknown as ReturnType<
    typeof Type.Unsafe<Limits>
  >,
  sessions: Type.Object({ enabled: flag(true), schema_format: choice('object', 'string') }),
  storage: Type.Object({
    data_dir: text(''),
    min_free: size(GiB),
    max_bytes: size(0),
    read_only: flag(false),
    ballast: size(64 * MiB),
  }),
  vectors: Type.Object({
    metric,
    m,
    ef_construction: efConstruction,
    ef_search: efSearch,
    /** 0 is replaced by half of the memory. */
    memory_bytes: size(0),
  }),
  snapshot: Type.Object({
    interval: time(300_000, 24 * hourMs, 1_000),
    after_writes: integer(50_000, 1, Number.MAX_SAFE_INTEGER),
    keep: integer(2, 1, 16),
  }),
  text: Type.Object({ enabled: flag(true) }),
  embedding: Type.Object({
    model: text(''),
    timeout: time(30_000, 600_000, 1),
    retries: integer(3, 0, 10),
    cache_entries: integer(1_024, 0, 1_000_000),
    allow_private: flag(false),
  }),
  log: Type.Object({
    level: choice('info', 'debug', 'warn', 'error'),
    format: choice('auto', 'json', 'text'),
    slow_ms: time(100, hourMs),
    values: flag(false),
    access: Type.Number({ default: 0, minimum: 0, maximum: 1 }),
  }),
  backup: Type.Object({ dir: text('') }),
});

export type ConfigValues = Static<typeof configSchema>;
export type VectorTypeConfig = Static<typeof vectorTypeSchema>;

/** Every fixed key with the schema of its value, `server.port` and so on. */
export const keySchemas: ReadonlyMap<string, TSchema> = collectKeys(configSchema, '');

function collectKeys(schema: TSchema, prefix: string): Map<string, TSchema> {
  const keys = new Map<string, TSchema>();
  for (const [name, inner] of Object.entries(propertiesOf(schema) ?? {})) {
    const key = prefix + name;
    if (propertiesOf(inner) === undefined) keys.set(key, inner);
    else for (const [deep, leaf] of collectKeys(inner, `${key}.`)) keys.set(deep, leaf);
  }
  return keys;
}

function propertiesOf(schema: TSchema): Record<string, TSchema> | undefined {
  return (schema as { properties?: Record<string, TSchema> }).properties;
}

/** The schema behind a key, per-type vector keys included; undefined for an unknown key. */
export function schemaOf(key: string): TSchema | undefined {
  const known = keySchemas.get(key);
  if (known !== undefined) return known;
  const match = /^vectors\.([A-Za-z_][A-Za-z0-9_]*)\.([a-z_]+)$/.exec(key);
  return match ? propertiesOf(vectorTypeSchema)?.[match[2]!] : undefined;
}
