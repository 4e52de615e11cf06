// Compares the settings that all nodes of a cluster must share: those that decide which data exist, which
// program runs, and what one node may request from another. Invariant: settings of one machine are not
// compared, such as memory, threads or addresses.
import type { Config } from '../../config/config.js';
import { currentKey, formerKey } from '../../config/renamed-keys.js';

/** Limits that decide what is stored, compiled or accepted. */
const limits = [
  ...['body_bytes', 'json_depth', 'json_members', 'json_elements', 'json_values'],
  ...['value_bytes', 'element_bytes', 'index_key_bytes', 'vector_dimensions'],
  ...['search_k', 'text_bytes', 'text_terms', 'document_terms', 'groups', 'group_properties'],
  ...['txn_writes', 'txn_bytes', 'drop_edges', 'query_time', 'write_time'],
  ...['idempotency_keys', 'idempotency_bytes', 'idempotency_ttl'],
  ...['filter_depth', 'filter_predicates', 'filter_values'],
  ...['source_bytes', 'source_queries', 'source_statements', 'source_depth', 'source_steps'],
  'source_name',
].map((name) => `limits.${name}`);

const others = [
  ...['compat', 'text.enabled', 'text.language', 'cluster.name', 'cluster.members'],
  ...['model', 'dimensions', 'task', 'prefixes.query', 'prefixes.document'].map(
    (name) => `embedding.${name}`,
  ),
];

/** Vector settings, for all types or for one. */
const ofVectors = /^vectors\.(?:[^.]+\.)?(?:metric|dimensions|store|embedding_model)$/;
/** Returns true if all nodes must share the setting. `key` is a current name. */
const isShared = (key: string): boolean =>
  limits.includes(key) || others.includes(key) || ofVectors.test(key) || key.startsWith(scatter);
const scatter = 'sharding.types.';
/** Nodes exchange former names, so that nodes of two versions compare the same settings. */
const formerScatter = formerKey(scatter);

const textOf = (value: unknown): string =>
  Array.isArray(value) ? JSON.stringify([...(value as unknown[])].sort()) : JSON.stringify(value);

/** Values by key, as text. */
export type Alike = Readonly<Record<string, string>>;

export function alikeOf({ settings }: Pick<Config, 'settings'>): Alike {
  const shared = [...settings].filter(([key]) => isShared(key));
  return Object.fromEntries(shared.map(([key, { value }]) => [formerKey(key), textOf(value)]));
}

/**
 * Returns true for a key that an older version may lack. The keys of a type are always compared.
 */
const mayLack = (key: string): boolean => !(ofVectors.test(key) || key.startsWith(formerScatter));

/**
 * Describes the first difference, from the view of the asking node. Returns undefined if there is none.
 */
export function differenceOf(local: Alike, theirs: Alike): string | undefined {
  for (const key of [...new Set([...Object.keys(local), ...Object.keys(theirs)])].sort()) {
    const [localValue, remoteValue] = [local[key], theirs[key]];
    if (localValue === remoteValue) continue;
    if ((localValue === undefined || remoteValue === undefined) && mayLack(key)) continue;
    return `\`${currentKey(key)}\` is ${remoteValue ?? 'not set'} here and ${localValue ?? 'not set'} on the leader`;
  }
  return undefined;
}
