// API keys as they are kept, and the making of new ones (http.md 8.1). Only digests are kept; the text of a key
// exists for the moment in which it is made or checked.
import { createHash, randomInt } from 'node:crypto';
import { Check } from 'typebox/schema';

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
    tenant: text,
    expires: text,
    created: text,
    digest: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  },
} as const;
export const recordsSchema = { type: 'array', items: keySchema } as const;

export const areKeyRecords = (value: unknown): value is KeyRecord[] => Check(recordsSchema, value);

export interface KeyRecord {
  id: string;
  name: string;
  role: Role;
  /** Query names this key is limited to; `*` at the end stands for any rest. */
  queries?: string[];
  /** The only database this key is for. */
  tenant?: string;
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

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** A new key: its record, and its text, which is shown once and kept nowhere. */
export function makeKey(
  options: Pick<KeyRecord, 'name' | 'role' | 'queries' | 'tenant' | 'expires'>,
  now: Date,
): { record: KeyRecord; text: string } {
  const id = randomText(8);
  const text = `tk_${id}_${randomText(32)}`;
  const digest = digestOf(text).toString('hex');
  return { record: { id, ...options, created: now.toISOString(), digest }, text };
}
