// Holds the API keys in force, from the key file and the environment, and finds the caller of a credential.
import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Credential } from './credential.js';
import { environmentDigest } from './environment-key.js';
import { readKeyFile } from './key-file.js';
import { type KeyRecord, type Role, idIn } from './key-record.js';

/** A caller and its rights. `keyId` is empty if no keys are configured. */
export interface Caller {
  keyId: string;
  role: Role;
  queries?: readonly string[];
  /** Whether the caller is another node of the cluster. */
  isNode?: boolean;
  /** The only database that the caller may use; absent for all. */
  tenant?: string;
}

interface KnownKey {
  /** Digests in hexadecimal digits, each valid until a time; several after a rotation. */
  digests: readonly { digest: string; until: number }[];
  caller: Caller;
  expiresAt: number;
  /** The key comes from the environment, not from the file. Its text contains no id. */
  isOfEnvironment?: true;
}

/** Keys in the form that is sent to another thread. */
export interface KeyList {
  keys: readonly KnownKey[];
  needed: boolean;
}

/** The keys by which requests are authenticated. */
export interface Keys {
  /** Whether requests need a key. Revoking the last key closes the server; it does not open it. */
  readonly active: boolean;
  /** The caller that a credential belongs to, or undefined. */
  find(credential: Credential, now: number): Caller | undefined;
}

interface Entry {
  digest: Buffer;
  until: number;
  caller: Caller | undefined;
}

/** Compared with a text whose id is unknown. */
const unknownEntries: readonly Entry[] = [
  { digest: Buffer.alloc(32), until: 0, caller: undefined },
];
const none: readonly Entry[] = [];

/**
 * The keys in force at one moment. The id in the text finds a key, so the time does not depend on their
 * number.
 */
export class KeyTable implements Keys {
  readonly active: boolean;
  readonly #byId = new Map<string, Entry[]>();
  /** Digests of keys without an id. */
  readonly #others: Entry[] = [];

  constructor(readonly list: KeyList) {
    this.active = list.needed;
    for (const { digests, caller, expiresAt, isOfEnvironment } of list.keys) {
      const entries = digests.map(({ digest, until }) => {
        return { digest: Buffer.from(digest, 'hex'), until: Math.min(until, expiresAt), caller };
      });
      if (isOfEnvironment) this.#others.push(...entries);
      else this.#byId.set(caller.keyId, [...(this.#byId.get(caller.keyId) ?? []), ...entries]);
    }
  }

  /** An unknown id takes as long as a known one, so the duration reveals nothing. */
  find({ text, digest }: Credential, now: number): Caller | undefined {
    const id = idIn(text);
    const entries = id === undefined ? none : (this.#byId.get(id) ?? unknownEntries);
    return matching(entries, digest, now) ?? matching(this.#others, digest, now);
  }
}

function matching(entries: readonly Entry[], digest: Buffer, now: number): Caller | undefined {
  let found: Caller | undefined;
  for (const entry of entries) {
    if (timingSafeEqual(entry.digest, digest) && entry.until > now) found = entry.caller;
  }
  return found;
}

/** The keys in force, which follow the key file. */
export class Keyring implements Keys {
  #table = new KeyTable({ keys: [], needed: false });
  #stamp: string | undefined;
  readonly #environmentKeys: KnownKey[] = [];
  /** Rights of each key at the last call of `expired`, as JSON by key id. */
  #inForce = new Map<string, string>();

  /** `environmentKey`: the key or its digest (environment-key.ts). Fails CONFIG_INVALID. */
  constructor(
    private readonly path: string,
    environmentKey?: string,
  ) {
    if (environmentKey) {
      this.#environmentKeys.push({
        digests: [{ digest: environmentDigest(environmentKey), until: never }],
        caller: { keyId: 'environment', role: 'admin' },
        expiresAt: never,
        isOfEnvironment: true,
      });
    }
    this.refresh();
  }

  get active(): boolean {
    return this.#table.active;
  }

  /** The keys, in a form for other threads. */
  get list(): KeyList {
    return this.#table.list;
  }

  /** Whether keys are required but none is in force. */
  get closed(): boolean {
    return this.active && this.list.keys.length === 0;
  }

  /**
   * Reads the file again if it changed; returns true if it did. If the file has vanished, the keys stay in
   * force: an accidental deletion must not open the server.
   */
  refresh(): boolean {
    const stamp = fileStamp(this.path);
    if (stamp === this.#stamp || (stamp === '' && this.#stamp !== undefined)) return false;
    const keys = [...this.#environmentKeys, ...readKeyFile(this.path).map(knownKey)];
    this.#stamp = stamp;
    // An existing key file requires keys, even if it holds none.
    const needed = this.active || stamp !== '' || keys.length > 0;
    this.#table = new KeyTable({ keys, needed });
    return true;
  }

  /** Ids of keys that were revoked, expired or got other rights since the last call. */
  expired(now: number): string[] {
    const inForce = this.list.keys.filter((key) => key.expiresAt > now);
    const before = this.#inForce;
    this.#inForce = new Map(inForce.map(({ caller }) => [caller.keyId, JSON.stringify(caller)]));
    return [...before].flatMap(([id, opens]) => (this.#inForce.get(id) === opens ? [] : [id]));
  }

  find(credential: Credential, now: number): Caller | undefined {
    return this.#table.find(credential, now);
  }
}

const never = Number.POSITIVE_INFINITY;

/** A time that cannot be read counts as past, because a refusal is the safe error. */
const timeOf = (text: string | undefined): number =>
  text === undefined ? never : Date.parse(text) || 0;

function knownKey(record: KeyRecord): KnownKey {
  const { id, role, queries, tenant, expires, digest, former = [] } = record;
  return {
    digests: [
      { digest, until: never },
      ...former.map((one) => ({ digest: one.digest, until: timeOf(one.until) })),
    ],
    caller: {
      keyId: id,
      role,
      ...(queries !== undefined && { queries }),
      ...(tenant !== undefined && { tenant }),
    },
    expiresAt: timeOf(expires),
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

/** Whether a scope such as `["get*", "people"]` contains the query. */
export function scopeNames(scope: readonly string[], query: string): boolean {
  return scope.some((entry) =>
    entry.endsWith('*') ? query.startsWith(entry.slice(0, -1)) : entry === query,
  );
}
