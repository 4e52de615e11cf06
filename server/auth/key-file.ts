// The key file: records of API keys as JSON, replaced as a whole. On a node of a cluster it says too which keys
// all nodes had when it was written, so that what was done to it since is known.
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
 * Version 1 had no checksum, and those before 4 no keys with `former` texts: a file has version 4 as long as one has,
 * so that an older server refuses it. A damaged file of one version never passes for a file of another version.
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
  /** Those of all nodes of the cluster, as this one had heard; absent: it has heard of none. */
  shared?: KeyRecord[];
  /** Ids of those that were revoked here since, and may be on their way to the others. */
  gone?: string[];
}

/**
 * The keys of a file; none when it does not exist. Fails CONFIG_INVALID when it cannot be read as
 * one.
 */
export const readKeyFile = (path: string): KeyRecord[] => readWholeKeyFile(path).keys;

export function readWholeKeyFile(path: string): KeyFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throwShortage(error);
    // A data directory that is a file is refused for what it is, later.
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
  const { crc32: noted, keys, shared, gone } = content as KeyFile & { crc32?: string };
  const file = { keys, ...(shared && { shared, gone: gone ?? [] }) };
  if (noted !== undefined && noted !== checksumOf(file)) {
    return fail('CONFIG_INVALID', { what: `auth.keys_file: ${path} fails its checksum` });
  }
  return file;
}

/** Of the records as they are read: a key must not get the rights of another by a damaged file. */
const checksumOf = ({ keys, shared, gone }: KeyFile): string =>
  crc32(JSON.stringify(shared === undefined ? keys : [keys, shared, gone]))
    .toString(16)
    .padStart(8, '0');

/** How long a change may take; a draft that stays longer was left behind by a process that died. */
const staleMs = 2_000;
const patienceMs = 20_000;
const retryMs = 10;

/** Replaces the keys by what `change` makes of them. */
export function changeKeyFile(path: string, change: (keys: KeyRecord[]) => KeyRecord[]): void {
  rewriteKeyFile(path, (file) => withKeys(file, change(file.keys)));
}

/** A file after somebody has changed its keys: where others may have heard of them, what goes is noted. */
export function withKeys(file: KeyFile, keys: KeyRecord[]): KeyFile {
  if (file.shared === undefined) return { keys };
  const ids = new Set(keys.map(({ id }) => id));
  const gone = file.keys.map(({ id }) => id).filter((id) => !ids.has(id));
  return { ...file, keys, gone: [...file.gone!, ...gone] };
}

/**
 * Replaces the file by what `change` makes of it. The draft is the lock: it is there from before
 * the file is read until it takes its place, so that two changes at once are both kept, and a power
 * cut leaves the old file or the new one (operations.md N14).
 */
export function rewriteKeyFile(path: string, change: (file: KeyFile) => KeyFile): void {
  makeFolder(dirname(path));
  const end = performance.now() + patienceMs;
  while (!attemptRewrite(path, change)) {
    if (performance.now() > end) fail('CONFIG_INVALID', { what: `${path} changes all the time.` });
  }
  syncPath(dirname(path));
}

/** False: it took so long that another process has taken the draft for one left behind, and gone on. */
function attemptRewrite(path: string, change: (file: KeyFile) => KeyFile): boolean {
  const draft = `${path}.tmp`;
  const file = openDraft(draft);
  const isOurs = (): boolean =>
    statSync(draft, { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
  try {
    const next = change(readWholeKeyFile(path));
    const version = versionOf(next);
    const content = { version, crc32: checksumOf(next), ...next };
    // The whole of it: of one write that is cut short by a full disk nobody would hear.
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(file);
    if (!isOurs()) return false;
    renameSync(draft, path);
    return true;
  } catch (error) {
    if (isOurs()) rmSync(draft, { force: true });
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
 * Creates the draft, waiting while another process has one. A draft that stays the same for long is
 * left over from a process that died; by this process's own clock, as the file's times are by one that
 * may be set.
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
    if (now - began > patienceMs) fail('CONFIG_INVALID', { what: `${draft} is in the way.` });
    const found = statSync(draft, { throwIfNoEntry: false });
    const present = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
    if (present !== former) since = now;
    else if (found && now - since > staleMs) rmSync(draft, { force: true });
    former = present;
  }
}
