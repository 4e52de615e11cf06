// The key file: records of API keys as JSON, replaced as a whole, and the making of new keys
// (http.md 8.1). Only digests are kept; the text of a key exists for the moment in which it is made
// or checked.
import { createHash, randomInt } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Check } from 'typebox/schema';
import { fail } from '../engine/index.js';

export const roles = ['read', 'write', 'admin', 'metrics'] as const;
export type Role = (typeof roles)[number];

const text = { type: 'string' } as const;
const keySchema = {
  type: 'object',
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
const fileSchema = {
  type: 'object',
  required: ['version', 'keys'],
  properties: { version: { const: 1 }, keys: { type: 'array', items: keySchema } },
} as const;

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
  if (!Check(fileSchema, content)) {
    return fail('CONFIG_INVALID', { what: `auth.keys_file: ${path} is not a key file` });
  }
  return (content as { keys: KeyRecord[] }).keys;
}

/** Replaces the file so that a power cut leaves the old or the new one (operations.md N14). */
export function writeKeyFile(path: string, keys: readonly KeyRecord[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.tmp`;
  const file = openSync(draft, 'w', 0o600);
  writeSync(file, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
  fsyncSync(file);
  closeSync(file);
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
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
