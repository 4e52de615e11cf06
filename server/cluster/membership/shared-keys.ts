// Merges the API keys of a cluster: one list that all nodes have from the log, and a key file on each node,
// which people edit. Whatever changed in a file since it was last written from the list is a change of the
// list.
//
// Invariant: a key that was revoked on any node never comes back, in whichever order and however often
// changes arrive. All files with the same list and no edits since are equal.
import { fail } from '../../../engine/internal.js';
import type { KeyFile } from '../../auth/key-file.js';
import { type KeyRecord, areKeyRecords } from '../../auth/key-record.js';

export interface SharedKeys {
  keys: KeyRecord[];
  /** Ids of revoked keys, newest last. A late change adds none of them again. */
  revoked: string[];
}

export interface KeyChange {
  set: KeyRecord[];
  /** Ids of the keys to revoke. */
  revoke: string[];
}

/** Number of revoked ids that are kept. */
const revokedMax = 10_000;

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/**
 * Returns what changed in a file since it was written from the list, or undefined if nothing did.
 */
export function changeIn({
  keys,
  shared = [],
  gone: revoked = [],
}: KeyFile): KeyChange | undefined {
  const known = new Map(shared.map((key) => [key.id, key]));
  const set = keys.filter((key) => !isSame(known.get(key.id), key));
  return set.length + revoked.length === 0 ? undefined : { set, revoke: revoked };
}

/** Reads a change that another node sent. Fails PARAM_TYPE. */
export function readKeyChange(body: Uint8Array): KeyChange {
  let input: Partial<KeyChange> | null = null;
  try {
    input = JSON.parse(Buffer.from(body).toString());
  } catch {}
  const { set, revoke } = input ?? {};
  const areIds = Array.isArray(revoke) && revoke.every((id) => typeof id === 'string');
  if (areIds && areKeyRecords(set)) return { set, revoke };
  return fail('PARAM_TYPE', {
    param: 'set, revoke',
    type: 'a change of keys',
    got: 'another body',
  });
}

/** Returns the list with the change applied, or the same object if nothing changes. */
export function applyKeyChange(list: SharedKeys, { set, revoke }: KeyChange): SharedKeys {
  const known = new Set(list.revoked);
  const revoked = [...list.revoked, ...revoke.filter((id) => !known.has(id))];
  const revokedIds = new Set(revoked);
  const keys = new Map(list.keys.map((key) => [key.id, key]));
  for (const key of set) keys.set(key.id, key);
  const valid = [...keys.values()].filter(({ id }) => !revokedIds.has(id));
  const next = { keys: valid, revoked: revoked.slice(-revokedMax) };
  return isSame(next, list) ? list : next;
}

/**
 * Returns a file with the current list. Edits of the file since its last update stay. A file that was never
 * written from a list is replaced, because its keys may have been revoked long ago.
 */
export function withSharedKeys(file: KeyFile, list: SharedKeys): KeyFile {
  const change = file.shared && changeIn(file);
  const { keys } = change ? applyKeyChange(list, change) : list;
  const known = new Set(list.revoked);
  return { keys, shared: list.keys, gone: (file.gone ?? []).filter((id) => !known.has(id)) };
}

/** Returns true if the files are equal, so that nothing has to be written. */
export const isSameFile = (one: KeyFile, other: KeyFile): boolean =>
  isSame([one.keys, one.shared, one.gone], [other.keys, other.shared, other.gone]);
