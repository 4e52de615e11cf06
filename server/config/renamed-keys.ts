// Maps former names of configuration keys to the names in force. A file, a variable or a flag may still use a former
// name, with one warning in the log. Invariant: the rest of the server sees current names only.
// The former names end with the next major version.

/** Current name of each key that was renamed, by its former name. */
export const renamedKeys: ReadonlyMap<string, string> = new Map([
  ['server.fronts', 'server.http_threads'],
  ['server.adhoc', 'server.ad_hoc_queries'],
  ['cluster.databases_open', 'tenants.max_open'],
  ['cluster.databases_idle', 'tenants.idle_timeout'],
  ['cluster.databases_workers', 'tenants.workers'],
  ['cluster.hedge', 'sharding.hedge_after'],
  ['cluster.keep', 'cluster.log_retention'],
  ['cluster.keep_bytes', 'cluster.log_retention_bytes'],
  ['cluster.advertise', 'cluster.advertise_address'],
  ['cluster.read', 'cluster.read_consistency'],
  ['cluster.wait', 'cluster.wait_timeout'],
  ['cluster.allow_lazy_log', 'cluster.allow_unsynced_log'],
  ['limits.kept_answers', 'limits.idempotency_keys'],
  ['limits.kept_answer_bytes', 'limits.idempotency_bytes'],
  ['limits.kept_answer_time', 'limits.idempotency_ttl'],
  ['log.values', 'log.parameters'],
  ['log.access', 'log.access_sample_rate'],
  ['log.slow_ms', 'log.slow_after'],
  ['mcp.output_chars', 'mcp.max_output_chars'],
  ['mcp.streams', 'mcp.max_subscriptions'],
  ['mcp.ttl', 'mcp.list_ttl'],
]);

/** Sections with a key for each name that the operator chooses. */
const renamedSections: readonly (readonly [former: string, current: string])[] = [
  ['cluster.databases.', 'tenants.databases.'],
  ['cluster.scatter.', 'sharding.types.'],
];

const formerNames = new Map([...renamedKeys].map(([former, current]) => [current, former]));

/** Returns the current name of a key. A key that was not renamed comes back as it is. */
export function currentKey(key: string): string {
  const current = renamedKeys.get(key);
  if (current !== undefined) return current;
  const section = renamedSections.find(([former]) => key.startsWith(former));
  return section === undefined ? key : section[1] + key.slice(section[0].length);
}

/** Returns the former name of a key, or the key itself if it was not renamed. */
export function formerKey(key: string): string {
  const former = formerNames.get(key);
  if (former !== undefined) return former;
  const section = renamedSections.find(([, current]) => key.startsWith(current));
  return section === undefined ? key : section[0] + key.slice(section[1].length);
}

/** The sentence for the log about a former name that a source uses. */
export const renamedNote = (former: string, current: string, source: string): string =>
  `${former} is now ${current} (${source}). The former name works until the next major version.`;
