// API keys in force: those of the key file and the one of the environment, and telling who calls
// (http.md 8.1).
import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { type KeyRecord, type Role, digestOf, readKeyFile } from './key-file.js';

/** Who calls, as far as rights go. `keyId` is empty when no keys are configured. */
export interface Caller {
  keyId: string;
  role: Role;
  queries?: readonly string[];
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
  /** A key file that exists asks for keys, also when it holds none any more. */
  #needed = false;
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
      const digest = isDigest ? Buffer.from(environmentKey, 'hex') : digestOf(environmentKey);
      const caller: Caller = { keyId: 'environment', role: 'admin' };
      this.#environmentKeys.push({ digest, caller, expiresAt: Number.POSITIVE_INFINITY });
    }
    this.refresh();
  }

  /** Whether requests need a key: revoking the last one closes the server, it opens nothing. */
  get active(): boolean {
    return this.#needed;
  }

  /** Whether no key at all is in force though one is needed. */
  get closed(): boolean {
    return this.#needed && this.#keys.length === 0;
  }

  /**
   * Reads the file again if it changed; true when it did. A file that has vanished changes nothing:
   * taking the keys away by accident must not open the server.
   */
  refresh(): boolean {
    const stamp = fileStamp(this.path);
    if (stamp === this.#stamp || (stamp === '' && this.#stamp !== undefined)) return false;
    this.#keys = [...this.#environmentKeys, ...readKeyFile(this.path).map(knownKey)];
    this.#stamp = stamp;
    this.#needed ||= stamp !== '' || this.#keys.length > 0;
    return true;
  }

  /** The ids of keys that were revoked or have expired since the last call. */
  lapsed(now: number): string[] {
    const live = this.#keys.filter((key) => key.expiresAt > now).map((key) => key.caller.keyId);
    const before = this.#inForce;
    this.#inForce = new Set(live);
    return [...before].filter((id) => !this.#inForce.has(id));
  }

  /**
   * Whose key `text` is; undefined for none. Every digest is compared, so that time tells nothing.
   */
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
