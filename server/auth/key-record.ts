// Defines the stored form of API keys, and creates new keys. Invariant: only digests are stored. The text of
// a key exists only while it is created or checked.
import { randomInt } from 'node:crypto';
import { Check } from 'typebox/schema';
import { digestOf } from './credential.js';

export const roles = ['read', 'write', 'admin', 'metrics'] as const;
export type Role = (typeof roles)[number];

const text = { type: 'string' } as const;
const digest = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
/** Allows no other members: a limit whose name is damaged must not become a key without that limit. */
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
    digest,
    former: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['digest', 'until'],
        properties: { digest, until: text },
      },
    },
  },
} as const;
export const recordsSchema = { type: 'array', items: keySchema } as const;

export const areKeyRecords = (value: unknown): value is KeyRecord[] => Check(recordsSchema, value);

export interface KeyRecord {
  id: string;
  name: string;
  role: Role;
  /** Names of the queries that this key may call; `*` at the end matches any rest. Absent: all queries. */
  queries?: string[];
  /** The only database that this key may use. Absent: all databases. */
  tenant?: string;
  /** Time in RFC 3339 from which the key is refused. */
  expires?: string;
  created: string;
  /** SHA-256 of the key in hexadecimal digits. */
  digest: string;
  /** Digests of the texts before rotations. Each is accepted until its time in RFC 3339. */
  former?: { digest: string; until: string }[];
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** Creates a key. Returns its record and its text, which is shown once and not stored. */
export function makeKey(
  options: Pick<KeyRecord, 'name' | 'role' | 'queries' | 'tenant' | 'expires'>,
  now: Date,
): { record: KeyRecord; text: string } {
  const id = randomText(8);
  const { digest, text } = makeText(id);
  return { record: { id, ...options, created: now.toISOString(), digest }, text };
}

function makeText(id: string): { digest: string; text: string } {
  const text = `tk_${id}_${randomText(32)}`;
  return { text, digest: digestOf(text).toString('hex') };
}

/** The id in the text of a TrellisDB key; undefined for any other text. */
export function idIn(text: string): string | undefined {
  if (!text.startsWith('tk_')) return undefined;
  const end = text.indexOf('_', 3);
  return end < 0 ? undefined : text.slice(3, end);
}

/** Number of former texts that stay valid. A rotation removes the oldest ones beyond it. */
const formerMax = 2;

/** Gives a key a new text. The present text stays valid until `until`. */
export function rotateKey(
  record: KeyRecord,
  until: Date,
  now: Date,
): { record: KeyRecord; text: string } {
  const { digest, text } = makeText(record.id);
  const { former = [], ...rest } = record;
  const present = { digest: record.digest, until: until.toISOString() };
  const valid = [present, ...former].filter((one) => Date.parse(one.until) > now.getTime());
  const good = valid.slice(0, formerMax);
  return { record: { ...rest, digest, ...(good.length > 0 && { former: good }) }, text };
}
