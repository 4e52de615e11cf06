// The API keys of a cluster: one list that all nodes have by its log, and the key file of each, which people
// change. What was done to a file since it was last made of the list is a change of the list.
//
// Invariant: whatever order changes come in, and however often, a key that was revoked on any node never comes
// back, and all files that have heard the same list and were not changed since are equal.
import { fail } from '../../../engine/internal.js';
import type { KeyFile } from '../../auth/key-file.js';
import { type KeyRecord, areKeyRecords } from '../../auth/key-record.js';

export interface SharedKeys {
  keys: KeyRecord[];
  /** Ids of those that were revoked, newest last: a change that comes late adds none of them again. */
  revoked: string[];
}

export interface KeyChange {
  set: KeyRecord[];
  /** Ids. */
  revoke: string[];
}

/** Ids of revoked keys that are remembered. */
const revokedMax = 10_000;

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** What was done to a file since it was made of the list; undefined: nothing. */
export function changeIn({ keys, shared = [], gone = [] }: KeyFile): KeyChange | undefined {
  const known = new Map(shared.map((key) => [key.id, key]));
  const set = keys.filter((key) => !isSame(known.get(key.id), key));
  return set.length + gone.length === 0 ? undefined : { set, revoke: gone };
}

/** What another node has sent. Fails PARAM_TYPE. */
export function readKeyChange(body: Uint8Array): KeyChange {
  let given: Partial<KeyChange> | null = null;
  try {
    given = JSON.parse(Buffer.from(body).toString());
  } catch {}
  const { set, revoke } = given ?? {};
  const areIds = Array.isArray(revoke) && revoke.every((id) => typeof id === 'string');
  if (areIds && areKeyRecords(set)) return { set, revoke };
  return fail('PARAM_TYPE', {
    param: 'set, revoke',
    type: 'a change of keys',
    got: 'another body',
  });
}

/** The list with a change; the same one where it changes nothing. */
export function applyKeyChange(list: SharedKeys, { set, revoke }: KeyChange): SharedKeys {
  const known = new Set(list.revoked);
  const revoked = [...list.revoked, ...revoke.filter((id) => !known.has(id))];
  const gone = new Set(revoked);
  const keys = new Map(list.keys.map((key) => [key.id, key]));
  for (const key of set) keys.set(key.id, key);
  const kept = [...keys.values()].filter(({ id }) => !gone.has(id));
  const next = { keys: kept, revoked: revoked.slice(-revokedMax) };
  return isSame(next, list) ? list : next;
}

/**
 * A file with the list as it is now. What was done to it meanwhile stays; one that never heard of a list
 * is replaced: what it holds may have been revoked long ago.
 */
export function adoptShared(file: KeyFile, list: SharedKeys): KeyFile {
  const change = file.shared && changeIn(file);
  const { keys } = change ? applyKeyChange(list, change) : list;
  const known = new Set(list.revoked);
  return { keys, shared: list.keys, gone: (file.gone ?? []).filter((id) => !known.has(id)) };
}

/** The same file: nothing has to be written. */
export const isSameFile = (one: KeyFile, other: KeyFile): boolean =>
  isSame([one.keys, one.shared, one.gone], [other.keys, other.shared, other.gone]);
