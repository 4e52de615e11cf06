// API keys in force: those of the key file and the one of the environment, and telling who calls
// (http.md 8.1).
import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Credential } from './credential.js';
import { environmentDigest } from './environment-key.js';
import { readKeyFile } from './key-file.js';
import { type KeyRecord, type Role, idIn } from './key-record.js';

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

/** One key. */
interface KnownKey {
  /** In hexadecimal digits, each until a time; after a rotation several. */
  digests: readonly { digest: string; until: number }[];
  caller: Caller;
  expiresAt: number;
  /** It is no record of the file: its text names no id. */
  isOfEnvironment?: true;
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
  /** Whose key it is; undefined for none. */
  find(credential: Credential, now: number): Caller | undefined;
}

interface Entry {
  digest: Buffer;
  until: number;
  caller: Caller | undefined;
}

/** What the text of an id is compared with that nobody has. */
const nobody: readonly Entry[] = [{ digest: Buffer.alloc(32), until: 0, caller: undefined }];
const none: readonly Entry[] = [];

/** The keys in force at a moment: found by the id in their text, whatever their number. */
export class KeyTable implements Keys {
  readonly active: boolean;
  readonly #byId = new Map<string, Entry[]>();
  /** Those without an id. */
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

  /** An id that nobody has takes as long as one that somebody has: time tells nothing. */
  find({ text, digest }: Credential, now: number): Caller | undefined {
    const id = idIn(text);
    const entries = id === undefined ? none : (this.#byId.get(id) ?? nobody);
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

/** The keys in force. */
export class Keyring implements Keys {
  #table = new KeyTable({ keys: [], needed: false });
  #stamp: string | undefined;
  readonly #environmentKeys: KnownKey[] = [];
  /** What the keys that were in force when `lapsed` was last asked open, by their ids. */
  #inForce = new Map<string, string>();

  /** `environmentKey`: the key, or its digest (environment-key.ts). Fails CONFIG_INVALID. */
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

  /** The ids of keys that were revoked, have expired or open something else since the last call. */
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

/** A time that cannot be read is taken as past: refusing is the safe error. */
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

/** Whether a scope like `["get*", "people"]` names the query. */
export function scopeNames(scope: readonly string[], query: string): boolean {
  return scope.some((entry) =>
    entry.endsWith('*') ? query.startsWith(entry.slice(0, -1)) : entry === query,
  );
}
