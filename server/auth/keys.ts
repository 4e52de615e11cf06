// API keys in force: those of the key file and the one of the environment, and telling who calls
// (http.md 8.1).
import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { readKeyFile } from './key-file.js';
import { type KeyRecord, type Role, digestOf } from './key-record.js';

/** Who calls, as far as rights go. `keyId` is empty when no keys are configured. */
export interface Caller {
  keyId: string;
  role: Role;
  queries?: readonly string[];
  /** Another node of the cluster. */
  isNode?: boolean;
  /** The only database that is open to it; absent for all. */
  tenant?: string;
}

/** One key; `digest` in hexadecimal digits. */
interface KnownKey {
  digest: string;
  caller: Caller;
  expiresAt: number;
}

/** Keys on their way to another thread. */
export interface KeyList {
  keys: readonly KnownKey[];
  needed: boolean;
}

/** What requests are judged by. */
export interface Keys {
  /** Whether requests need a key: revoking the last one closes the server, it opens nothing. */
  readonly active: boolean;
  /** Whose key `text` is; undefined for none. */
  find(text: string, now: number): Caller | undefined;
}

/** The keys in force at a moment. */
export class KeyTable implements Keys {
  readonly active: boolean;
  readonly #entries: readonly { digest: Buffer; key: KnownKey }[];

  constructor(readonly list: KeyList) {
    this.active = list.needed;
    this.#entries = list.keys.map((key) => ({ digest: Buffer.from(key.digest, 'hex'), key }));
  }

  /** Every digest is compared, so that time tells nothing. */
  find(text: string, now: number): Caller | undefined {
    const given = digestOf(text);
    let found: KnownKey | undefined;
    for (const { digest, key } of this.#entries) {
      if (timingSafeEqual(digest, given) && key.expiresAt > now) found = key;
    }
    return found?.caller;
  }
}

/** The keys in force. */
export class Keyring implements Keys {
  #table = new KeyTable({ keys: [], needed: false });
  #stamp: string | undefined;
  readonly #environmentKeys: KnownKey[] = [];
  /** Ids in force when `lapsed` was last asked. */
  #inForce = new Set<string>();

  /** `environmentKey`: the key, or the 64 hexadecimal digits of its SHA-256. */
  constructor(
    private readonly path: string,
    environmentKey?: string,
  ) {
    if (environmentKey) {
      const isDigest = /^[0-9a-fA-F]{64}$/.test(environmentKey);
      const digest = isDigest ? environmentKey : digestOf(environmentKey).toString('hex');
      const caller: Caller = { keyId: 'environment', role: 'admin' };
      this.#environmentKeys.push({ digest, caller, expiresAt: Number.POSITIVE_INFINITY });
    }
    this.refresh();
  }

  get active(): boolean {
    return this.#table.active;
  }

  /** For other threads. */
  get list(): KeyList {
    return this.#table.list;
  }

  /** Whether no key at all is in force though one is needed. */
  get closed(): boolean {
    return this.active && this.list.keys.length === 0;
  }

  /**
   * Reads the file again if it changed; true when it did. A file that has vanished changes nothing:
   * taking the keys away by accident must not open the server.
   */
  refresh(): boolean {
    const stamp = fileStamp(this.path);
    if (stamp === this.#stamp || (stamp === '' && this.#stamp !== undefined)) return false;
    const keys = [...this.#environmentKeys, ...readKeyFile(this.path).map(knownKey)];
    this.#stamp = stamp;
    // A key file that exists asks for keys, also when it holds none any more.
    const needed = this.active || stamp !== '' || keys.length > 0;
    this.#table = new KeyTable({ keys, needed });
    return true;
  }

  /** The ids of keys that were revoked or have expired since the last call. */
  lapsed(now: number): string[] {
    const inForce = this.list.keys.filter((key) => key.expiresAt > now);
    const live = inForce.map((key) => key.caller.keyId);
    const before = this.#inForce;
    this.#inForce = new Set(live);
    return [...before].filter((id) => !this.#inForce.has(id));
  }

  find(text: string, now: number): Caller | undefined {
    return this.#table.find(text, now);
  }
}

function knownKey(record: KeyRecord): KnownKey {
  const { id, role, queries, tenant, expires } = record;
  // An expiry that cannot be read is taken as past: refusing is the safe error.
  const time = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires) || 0;
  return {
    digest: record.digest,
    caller: {
      keyId: id,
      role,
      ...(queries !== undefined && { queries }),
      ...(tenant !== undefined && { tenant }),
    },
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
