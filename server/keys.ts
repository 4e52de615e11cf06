// API keys (http.md 8.1): the key file, the key of the environment, and telling who calls. Only digests are kept; the
// text of a key exists for the moment in which it is made or checked.
import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
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

/** Who calls, as far as rights go. `keyId` is empty when no keys are configured. */
export interface Caller {
  keyId: string;
  role: Role;
  queries?: readonly string[];
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The keys of a file; none when it does not exist. Fails CONFIG_INVALID when it cannot be read as one. */
export function readKeyFile(path: string): KeyRecord[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
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

interface KnownKey {
  digest: Buffer;
  caller: Caller;
  expiresAt: number;
}

/** The keys in force. */
export class Keyring {
  #keys: KnownKey[] = [];
  #stamp: string | undefined;
  readonly #environmentKeys: KnownKey[] = [];

  /** `environmentKey`: the key, or the 64 hexadecimal digits of its SHA-256. */
  constructor(
    private readonly path: string,
    environmentKey?: string,
  ) {
    if (environmentKey) {
      const isDigest = /^[0-9a-fA-F]{64}$/.test(environmentKey);
      const digest = isDigest ? Buffer.from(environmentKey, 'hex') : digestOf(environmentKey);
      const caller: Caller = { keyId: 'environment', role: 'admin' };
      this.#environmentKeys.push({ digest, caller, expiresAt: Number.POSITIVE_INFINITY });
    }
    this.refresh();
  }

  /** Whether requests need a key. */
  get active(): boolean {
    return this.#keys.length > 0;
  }

  /**
   * Reads the file again if it changed; true when it did. A file that has vanished changes nothing: taking the keys away by
   * accident must not open the server.
   */
  refresh(): boolean {
    const stamp = fileStamp(this.path);
    if (stamp === this.#stamp || (stamp === '' && this.#stamp !== undefined)) return false;
    this.#keys = [...this.#environmentKeys, ...readKeyFile(this.path).map(knownKey)];
    this.#stamp = stamp;
    return true;
  }

  /** Whose key `text` is; undefined for none. Every digest is compared, so that time tells nothing. */
  find(text: string, now: number): Caller | undefined {
    const digest = digestOf(text);
    let found: KnownKey | undefined;
    for (const key of this.#keys) {
      if (timingSafeEqual(key.digest, digest) && key.expiresAt > now) found = key;
    }
    return found?.caller;
  }
}

function knownKey(record: KeyRecord): KnownKey {
  const { id, role, queries, expires } = record;
  // An expiry that cannot be read is taken as past: refusing is the safe error.
  const time = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires) || 0;
  return {
    digest: Buffer.from(record.digest, 'hex'),
    caller: queries === undefined ? { keyId: id, role } : { keyId: id, role, queries },
    expiresAt: time,
  };
}

function fileStamp(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return '';
  }
}

/** Whether a scope like `["get*", "people"]` names the query. */
export function scopeNames(scope: readonly string[], query: string): boolean {
  return scope.some((entry) =>
    entry.endsWith('*') ? query.startsWith(entry.slice(0, -1)) : entry === query,
  );
}
