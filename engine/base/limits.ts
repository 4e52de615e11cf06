// Every limit of the system, with default, hard maximum and unit. Nothing is unlimited.

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

type Unit = 'bytes' | 'milliseconds' | 'count';

interface Limit {
  default: number;
  /** Largest value the configuration may set. */
  hardMax: number;
  unit: Unit;
}

const bytes = (value: number, hardMax = Number.MAX_SAFE_INTEGER): Limit => ({
  default: value,
  hardMax,
  unit: 'bytes',
});
const count = (value: number, hardMax = Number.MAX_SAFE_INTEGER): Limit => ({
  default: value,
  hardMax,
  unit: 'count',
});
const time = (value: number, hardMax = Number.MAX_SAFE_INTEGER): Limit => ({
  default: value,
  hardMax,
  unit: 'milliseconds',
});

export const limitTable = {
  body_bytes: bytes(32 * MiB, 256 * MiB),
  buffered_body_bytes: bytes(256 * MiB),
  buffered_response_bytes: bytes(512 * MiB),
  header_bytes: bytes(16 * KiB, 64 * KiB),
  receive_time: time(60_000, 600_000),
  json_depth: count(64, 64),
  json_members: count(10_000, 100_000),
  json_elements: count(1_000_000, 4_000_000),
  json_values: count(4_000_000, 16_000_000),
  value_bytes: bytes(4 * MiB, 64 * MiB),
  element_bytes: bytes(16 * MiB, 64 * MiB),
  index_key_bytes: bytes(1_900, 1_900),
  vector_dimensions: count(65_535, 65_535),
  search_k: count(10_000, 100_000),
  text_bytes: bytes(64 * KiB),
  text_terms: count(1_024),
  document_terms: count(1_000_000),
  result_items: count(1_000_000, 10_000_000),
  result_bytes: bytes(64 * MiB, 512 * MiB),
  groups: count(1_000_000),
  query_time: time(30_000, 600_000),
  write_time: time(30_000, 600_000),
  query_memory: bytes(256 * MiB, 2 * GiB),
  /** 0 disables the limit. */
  query_visits: count(0),
  txn_writes: count(1_000_000),
  txn_bytes: bytes(512 * MiB),
  /**
   * The number that fits into `txn_writes`: each edge needs a record, an id and two adjacency
   * entries.
   */
  drop_edges: count(250_000),
  /**
   * Stored replies of writes with an idempotency key. Beyond this number the oldest are deleted.
   */
  idempotency_keys: count(1_000_000),
  idempotency_bytes: bytes(256 * MiB),
  idempotency_ttl: time(86_400_000),
  filter_depth: count(8),
  filter_predicates: count(1_000),
  filter_values: count(10_000),
  group_properties: count(16),
  sessions: count(10_000, 100_000),
  /** 0 disables the limit. */
  sessions_per_key: count(0),
  /** 0 means that sessions never expire. */
  session_idle: time(3_600_000),
  session_items: count(5_000_000),
  session_memory: bytes(1 * GiB),
  session_queue: count(32),
  /** An import that receives nothing for this long loses its slot when another import needs one. */
  import_idle: time(10_000),
  connections: count(10_000),
  /** 0 disables the limit. */
  connections_per_address: count(1_000),
  /** Replies without an end, for all callers and for one caller (0 disables the second limit). */
  streams: count(1_000),
  streams_per_caller: count(64),
  read_queue: count(2_048),
  write_queue: count(2_048),
  write_queue_bytes: bytes(64 * MiB),
  /**
   * Failed authentications per second from one address; the limit for all addresses together is ten
   * times higher.
   */
  auth_failures: count(10),
  /** 0 disables the limit. */
  rate_per_key: count(0),
  rate_per_address: count(0),
  source_bytes: bytes(1 * MiB),
  source_queries: count(10_000),
  source_statements: count(1_000),
  source_depth: count(64),
  source_steps: count(256, 512),
  source_name: count(128),
} satisfies Record<string, Limit>;

export type LimitName = keyof typeof limitTable;
export type Limits = Record<LimitName, number>;

export const defaultLimits: Limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, limit]) => [name, limit.default]),
) as Limits;
