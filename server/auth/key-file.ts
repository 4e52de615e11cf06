// The key file: records of API keys as JSON, replaced as a whole, and the making of new keys
// (http.md 8.1). Only digests are kept; the text of a key exists for the moment in which it is made
// or checked.
import { createHash, randomInt } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { Check } from 'typebox/schema';
import { fail } from '../../engine/index.js';

export const roles = ['read', 'write', 'admin', 'metrics'] as const;
export type Role = (typeof roles)[number];

const text = { type: 'string' } as const;
/** No other members: a limit whose name is damaged must not be a key without that limit. */
const keySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'name', 'role', 'created', 'digest'],
  properties: {
    id: { type: 'string', pattern: '^[0-9A-Za-z]{1,32}$' },
    name: text,
    role: { enum: roles },
    queries: { type: 'array', items: text },
    expires: text,
    created: text,
    digest: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  },
} as const;
const keys = { type: 'array', items: keySchema } as const;
/** Version 1 had no checksum; its members are no others, so that a damaged 2 is not taken for it. */
const fileSchemas = [
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

export interface KeyRecord {
  id: string;
  name: string;
  role: Role;
  /** Query names this key is limited to; `*` at the end stands for any rest. */
  queries?: string[];
  /** RFC 3339; the key is refused from then on. */
  expires?: string;
  created: string;
  /** SHA-256 of the key, hexadecimal. */
  digest: string;
}

/** SHA-256 of a key's text. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * The keys of a file; none when it does not exist. Fails CONFIG_INVALID when it cannot be read as
 * one.
 */
export function readKeyFile(path: string): KeyRecord[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    // A data directory that is a file is refused for what it is, later.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
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
  const { crc32: noted, keys } = content as { crc32?: string; keys: KeyRecord[] };
  if (noted !== undefined && noted !== checksumOf(keys)) {
    return fail('CONFIG_INVALID', { what: `auth.keys_file: ${path} fails its checksum` });
  }
  return keys;
}

/** Of the records as they are read: a key must not get the rights of another by a damaged file. */
const checksumOf = (keys: readonly KeyRecord[]): string =>
  crc32(JSON.stringify(keys)).toString(16).padStart(8, '0');

/** How long a change may take; a draft that stays longer was left behind by a process that died. */
const staleMs = 2_000;
const patienceMs = 20_000;
const retryMs = 10;

/**
 * Replaces the keys by what `change` makes of them. The draft is the lock: it is there from before
 * the file is read until it takes its place, so that two changes at once are both kept, and a power
 * cut leaves the old file or the new one (operations.md N14).
 */
export function changeKeyFile(path: string, change: (keys: KeyRecord[]) => KeyRecord[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.tmp`;
  const file = openDraft(draft);
  try {
    const keys = change(readKeyFile(path));
    const content = { version: 2, crc32: checksumOf(keys), keys };
    writeSync(file, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(file);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
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
  for (let since = began; ; sleep(retryMs)) {
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

/** Commands wait in place: nothing else of theirs could go on. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** A new key: its record, and its text, which is shown once and kept nowhere. */
export function makeKey(
  options: Pick<KeyRecord, 'name' | 'role' | 'queries' | 'expires'>,
  now: Date,
): { record: KeyRecord; text: string } {
  const id = randomText(8);
  const text = `tk_${id}_${randomText(32)}`;
  const digest = digestOf(text).toString('hex');
  return { record: { id, ...options, created: now.toISOString(), digest }, text };
}
