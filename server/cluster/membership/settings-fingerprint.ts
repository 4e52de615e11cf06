// What all nodes of a cluster have to have configured alike: what decides which data there are, which program is taken
// and what one node may ask of another. Invariant: what is of a machine alone, its memory, its threads or its doors, is
// not compared.
import type { Config } from '../../config/config.js';
import { currentKey, formerKey } from '../../config/renamed-keys.js';

/** Bounds that decide what is stored, compiled or taken. */
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

const others = ['compat', 'text.enabled', 'embedding.model', 'cluster.name', 'cluster.members'];

/** Of the vectors of all types, and of one. */
const ofVectors = /^vectors\.(?:[^.]+\.)?(?:metric|dimensions|store|embedding_model)$/;
/** `key` is a current name. */
const isShared = (key: string): boolean =>
  limits.includes(key) || others.includes(key) || ofVectors.test(key) || key.startsWith(scatter);
const scatter = 'sharding.types.';
/** Nodes exchange former names, so that nodes of two versions compare the same settings. */
const formerScatter = formerKey(scatter);

const textOf = (value: unknown): string =>
  Array.isArray(value) ? JSON.stringify([...(value as unknown[])].sort()) : JSON.stringify(value);

/** By key, as text. */
export type Alike = Readonly<Record<string, string>>;

export function alikeOf({ settings }: Pick<Config, 'settings'>): Alike {
  const shared = [...settings].filter(([key]) => isShared(key));
  return Object.fromEntries(shared.map(([key, { value }]) => [formerKey(key), textOf(value)]));
}

/** Keys that a build before did not have are not held against it; those of a type, it may have left out. */
const mayLack = (key: string): boolean => !(ofVectors.test(key) || key.startsWith(formerScatter));

/** The first difference in words, as the asking node is to hear it; undefined: there is none. */
export function differenceOf(ours: Alike, theirs: Alike): string | undefined {
  for (const key of [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].sort()) {
    const [here, there] = [ours[key], theirs[key]];
    if (here === there) continue;
    if ((here === undefined || there === undefined) && mayLack(key)) continue;
    return `\`${currentKey(key)}\` is ${there ?? 'not set'} here and ${here ?? 'not set'} on the leader`;
  }
  return undefined;
}
