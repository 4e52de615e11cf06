// Reads and replaces the key file: records of API keys as JSON. On a node of a cluster, the file also holds
// the keys that all nodes had when it was written. The difference is the set of local changes since then.
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { Check } from 'typebox/schema';
import { fail, throwShortage, holdThread, makeFolder, syncPath } from '../../engine/internal.js';
import { type KeyRecord, recordsSchema as keys } from './key-record.js';

const text = { type: 'string' } as const;

/**
 * Schemas of all versions. Version 1 has no checksum, and versions before 4 have no keys with `former` texts.
 * A file has version 4 only if one of its keys has such texts, so that an older server refuses it. A damaged
 * file of one version never passes as a file of another version.
 */
const fileSchemas = [
  {
    type: 'object',
    additionalProperties: false,
    required: ['version', 'crc32', 'keys'],
    properties: {
      version: { const: 4 },
      crc32: text,
      keys,
      shared: keys,
      gone: { type: 'array', items: text },
    },
  },
  {
    type: 'object',
    additionalProperties: false,
    required: ['version', 'crc32', 'keys', 'shared', 'gone'],
    properties: {
      version: { const: 3 },
      crc32: text,
      keys,
      shared: keys,
      gone: { type: 'array', items: text },
    },
  },
  {
    type: 'object',
    additionalProperties: false,
    required: ['version', 'crc32', 'keys'],
    properties: { version: { const: 2 }, crc32: text, keys },
  },
  {
    type: 'object',
    additionalProperties: false,
    required: ['version', 'keys'],
    properties: { version: { const: 1 }, keys },
  },
] as const;

export interface KeyFile {
  keys: KeyRecord[];
  /** Keys of all nodes of the cluster, as last received; absent if none were received. */
  shared?: KeyRecord[];
  /** Ids of keys that were revoked here since then. The other nodes may not know of it yet. */
  gone?: string[];
}

/**
 * Returns the keys of a file, or none if the file does not exist. Fails CONFIG_INVALID if it is not a valid
 * key file.
 */
export const readKeyFile = (path: string): KeyRecord[] => readFullKeyFile(path).keys;

export function readFullKeyFile(path: string): KeyFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throwShortage(error);
    // If the data directory is a file, a later check refuses it and names the cause.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { keys: [] };
    return fail('CONFIG_INVALID', { what: `auth.keys_file: ${path} cannot be read` });
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = undefined;
  }
  if (!fileSchemas.some((schema) => Check(schema, content))) {
    return fail('CONFIG_INVALID', { what: `auth.keys_file: ${path} is not a key file` });
  }
  const { crc32: storedCrc, keys, shared, gone: revoked } = content as KeyFile & { crc32?: string };
  const file = { keys, ...(shared && { shared, gone: revoked ?? [] }) };
  if (storedCrc !== undefined && storedCrc !== checksumOf(file)) {
    return fail('CONFIG_INVALID', { what: `auth.keys_file: ${path} fails its checksum` });
  }
  return file;
}

/** Checksum over the records as they are read: a damaged file must not give a key the rights of another. */
const checksumOf = ({ keys, shared, gone: revoked }: KeyFile): string =>
  crc32(JSON.stringify(shared === undefined ? keys : [keys, shared, revoked]))
    .toString(16)
    .padStart(8, '0');

/** Maximum duration of a change. An older draft was left by a process that died. */
const staleMs = 2_000;
const lockTimeoutMs = 20_000;
const retryMs = 10;

/** Replaces the keys by the result of `change`. */
export function changeKeyFile(path: string, change: (keys: KeyRecord[]) => KeyRecord[]): void {
  rewriteKeyFile(path, (file) => withKeys(file, change(file.keys)));
}

/**
 * Returns the file with changed keys. In a cluster, it also records the removed ids, because other nodes may
 * have the keys.
 */
export function withKeys(file: KeyFile, keys: KeyRecord[]): KeyFile {
  if (file.shared === undefined) return { keys };
  const ids = new Set(keys.map(({ id }) => id));
  const deleted = file.keys.map(({ id }) => id).filter((id) => !ids.has(id));
  return { ...file, keys, gone: [...file.gone!, ...deleted] };
}

/**
 * Replaces the file by the result of `change`. The draft is the lock: it exists before the file is read, and
 * is renamed to the file. So two simultaneous changes both take effect. A power failure leaves the old file
 * or the new one.
 */
export function rewriteKeyFile(path: string, change: (file: KeyFile) => KeyFile): void {
  makeFolder(dirname(path));
  const end = performance.now() + lockTimeoutMs;
  while (!attemptRewrite(path, change)) {
    if (performance.now() > end) fail('CONFIG_INVALID', { what: `${path} changes all the time.` });
  }
  syncPath(dirname(path));
}

/** Returns false if it took so long that another process removed the draft as stale. */
function attemptRewrite(path: string, change: (file: KeyFile) => KeyFile): boolean {
  const draft = `${path}.tmp`;
  const file = openDraft(draft);
  const isOwnLock = (): boolean =>
    statSync(draft, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
  try {
    const next = change(readFullKeyFile(path));
    const version = versionOf(next);
    const content = { version, crc32: checksumOf(next), ...next };
    // Writes all bytes or fails. A single write can be cut short by a full disk without an error.
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(file);
    if (!isOwnLock()) return false;
    renameSync(draft, path);
    return true;
  } catch (error) {
    if (isOwnLock()) rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function versionOf({ keys, shared }: KeyFile): number {
  if ([...keys, ...(shared ?? [])].some(({ former }) => former !== undefined)) return 4;
  return shared === undefined ? 2 : 3;
}

export function writeKeyFile(path: string, keys: readonly KeyRecord[]): void {
  changeKeyFile(path, () => [...keys]);
}

/**
 * Creates the draft, and waits while another process has one. A draft that stays the same for `staleMs` was
 * left by a process that died. This process measures the time itself, because the times of a file come from a
 * clock that can be set.
 */
function openDraft(draft: string): number {
  const began = performance.now();
  let former = '';
  for (let since = began; ; holdThread(retryMs)) {
    try {
      return openSync(draft, 'wx', 0o600);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST')
        fail('CONFIG_INVALID', { what: `${draft} cannot be written: ${code}.` });
    }
    const now = performance.now();
    if (now - began > lockTimeoutMs) fail('CONFIG_INVALID', { what: `${draft} is in the way.` });
    const found = statSync(draft, { throwIfNoEntry: false });
    const present = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
    if (present !== former) since = now;
    else if (found && now - since > staleMs) rmSync(draft, { force: true });
    former = present;
  }
}
