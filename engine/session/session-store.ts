// All open sessions: their owners, expiry, memory, and the order of their calls. Times are arguments, in
// milliseconds of a monotonic clock.
// Invariant: all maps of sessions are in order of last use, least recent first.
// Invariant: `bytes` is the sum over the open sessions.
// Invariant: a session with a running call neither expires nor is evicted.
import { printUuid } from '../base/id.js';
import { excerpt, fail } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import {
  advanced,
  blank,
  built,
  countBytes,
  type Items,
  lengthOf,
  noItems,
  type Traversal,
} from './session.js';
import type { After } from './tool-context.js';

/** Idle time in milliseconds after which a session may be evicted for another. */
const evictableMs = 300_000;
/** An owner that uses more than 1/4 of the total makes room for others. */
const shares = 4;
/** Seconds after which a client without a session should retry. */
const retrySeconds = 60;
/** Bytes of a blank session: the record, its id and its map entries. */
const fixedBytes = 1024;
const uuidLength = 36;

export interface Session {
  readonly id: string;
  /** Key of the owner; the empty text means "no key". */
  readonly keyId: string;
  /** Owner whose share the session counts against: the key, or the address if there are no keys. */
  readonly owner: Owner;
  traversal: Traversal;
  lastUsed: number;
  /** False after the session expired, was evicted or lost its key. */
  live: boolean;
  /** True while a call runs; other calls wait in order of arrival. */
  busy: boolean;
  waiting: (() => void)[] | undefined;
}

/** An owner with its open sessions and their bytes. */
interface Owner {
  readonly holder: string;
  readonly sessions: Map<string, Session>;
  bytes: number;
}

export interface StoreCounts {
  open: number;
  bytes: number;
  created: number;
  expired: number;
  evicted: number;
}

export class SessionStore {
  readonly #all = new Map<string, Session>();
  readonly #owners = new Map<string, Owner>();
  #bytes = 0;
  #created = 0;
  #expired = 0;
  #evicted = 0;

  /**
   * `randomBytes` returns the given number of unpredictable bytes. `node` is the node of a cluster, which the
   * ids then contain.
   */
  constructor(
    private readonly limits: Limits,
    private readonly randomBytes: (count: number) => Uint8Array,
    private readonly node = '',
  ) {}

  /** Opens a blank session. Fails TOO_MANY_SESSIONS or SHARE_EXCEEDED if no session can be evicted. */
  open(keyId: string, now: number, holder = keyId): Session {
    this.#makeRoom(holder, now);
    const id = this.#newId();
    let owner = this.#owners.get(holder);
    if (owner === undefined) owner = { holder, sessions: new Map(), bytes: 0 };
    this.#owners.set(holder, owner);
    const session: Session = {
      id,
      keyId,
      owner,
      traversal: blank,
      lastUsed: now,
      live: true,
      busy: false,
      waiting: undefined,
    };
    this.#link(session);
    this.#count(session, fixedBytes);
    this.#created++;
    return session;
  }

  /**
   * Returns the live session of this key and restarts its idle time. Fails CONNECTION_NOT_FOUND, or
   * SESSION_ELSEWHERE for a session of another node.
   */
  get(id: string, keyId: string, now: number): Session {
    const session = this.#all.get(id);
    const node = id[uuidLength] === '.' ? id.slice(uuidLength + 1) : '';
    if (session === undefined && this.node !== '' && node !== '' && node !== this.node)
      fail('SESSION_ELSEWHERE', { node: excerpt(node) }, { path: '/connection_id' });
    if (session === undefined || session.keyId !== keyId)
      fail('CONNECTION_NOT_FOUND', { id: excerpt(id) }, { path: '/connection_id' });
    if (this.#hasExpired(session, now)) {
      this.#end(session);
      this.#expired++;
      fail('CONNECTION_NOT_FOUND', { id: excerpt(id) }, { path: '/connection_id' });
    }
    this.#touch(session, now);
    return session;
  }

  /** Reserves the session for a call that can run immediately. Returns false if a call is running. */
  enter(session: Session): boolean {
    if (session.busy) return false;
    session.busy = true;
    return true;
  }

  /**
   * Queues a call after the running one. Fails SESSION_BUSY if too many wait. Returns a function that removes
   * the call, and returns true if it was still waiting.
   */
  wait(session: Session, start: () => void): () => boolean {
    const waiting = (session.waiting ??= []);
    if (waiting.length >= this.limits.session_queue)
      fail('SESSION_BUSY', { count: waiting.length });
    waiting.push(start);
    return () => {
      const object = waiting.indexOf(start);
      if (object >= 0) waiting.splice(object, 1);
      return object >= 0;
    };
  }

  /** Ends the running call and starts the next waiting one. */
  leave(session: Session, now: number): void {
    if (session.live) this.#touch(session, now);
    const next = session.waiting?.shift();
    if (next === undefined) {
      session.busy = false;
      session.waiting = undefined;
    } else {
      next();
    }
  }

  /**
   * Applies the effect of a successful call to its session. Fails without a change if there are too many
   * items.
   */
  settle(session: Session, after: After, items: Items = noItems): void {
    if (after !== 'keep') this.#put(session, after === 'blank' ? blank : built(items));
  }

  /** Moves the cursor. */
  advance(session: Session, cursor: number): void {
    session.traversal = advanced(session.traversal, cursor);
  }

  #put(session: Session, traversal: Traversal): void {
    const max = this.limits.session_items;
    if (lengthOf(traversal) > max) fail('RESULT_TOO_LARGE', { max, unit: 'session items' });
    // If the session ended during the call, its owner still receives the reply.
    if (!session.live) return;
    const growth = countBytes(traversal) - countBytes(session.traversal);
    if (growth > 0) this.#makeBytes(session, growth);
    this.#count(session, growth);
    session.traversal = traversal;
  }

  #count({ owner }: Session, bytes: number): void {
    this.#bytes += bytes;
    owner.bytes += bytes;
  }

  /**
   * Ensures capacity for `growth` bytes. An owner that uses more than a quarter of the total makes room from
   * its own sessions.
   */
  #makeBytes({ owner }: Session, growth: number): void {
    const { session_memory: bytesMax } = this.limits;
    const share = bytesMax / shares;
    const isFull = (): boolean => this.#bytes + growth > bytesMax;
    while (isFull() && owner.bytes + growth <= share && this.#endOne('bytes', share, owner));
    if (!isFull()) return;
    if (owner.bytes + growth > share && this.#owners.size > 1)
      fail('SHARE_EXCEEDED', { count: owner.bytes + growth, what: 'bytes of sessions' });
    fail('OVERLOADED', { queue: 'The memory for sessions' });
  }

  /** Ends the least recently used session of the owner that uses most, if that exceeds its share. */
  #endOne(by: 'bytes' | 'sessions', share: number, but: Owner | undefined): boolean {
    const sizeOf = (one: Owner): number => (by === 'bytes' ? one.bytes : one.sessions.size);
    let largest: Owner | undefined;
    for (const owner of this.#owners.values())
      if (owner !== but && (largest === undefined || sizeOf(owner) > sizeOf(largest)))
        largest = owner;
    if (largest === undefined || sizeOf(largest) <= share) return false;
    for (const session of largest.sessions.values()) {
      if (session.busy) continue;
      this.#end(session);
      this.#evicted++;
      return true;
    }
    return false;
  }

  /** Ends a session of this key, if it exists. */
  close(id: string, keyId: string): void {
    const session = this.#all.get(id);
    if (session?.keyId === keyId) this.#end(session);
  }

  /** Ends expired sessions; returns their number. Takes constant time if none has expired. */
  sweep(now: number): number {
    let count = 0;
    for (const session of this.#all.values()) {
      if (session.busy) continue;
      if (!this.#hasExpired(session, now)) break;
      this.#end(session);
      count++;
    }
    this.#expired += count;
    return count;
  }

  /** Ends all sessions of a key. */
  dropByKey(keyId: string): number {
    const own = [...this.#all.values()].filter((session) => session.keyId === keyId);
    for (const session of own) this.#end(session);
    return own.length;
  }

  counts(): StoreCounts {
    return {
      open: this.#all.size,
      bytes: this.#bytes,
      created: this.#created,
      expired: this.#expired,
      evicted: this.#evicted,
    };
  }

  #hasExpired(session: Session, now: number): boolean {
    const idle = this.limits.session_idle;
    return idle > 0 && !session.busy && now - session.lastUsed >= idle;
  }

  #touch(session: Session, now: number): void {
    session.lastUsed = Math.max(session.lastUsed, now);
    this.#displace(session);
    this.#link(session);
  }

  #link(session: Session): void {
    this.#all.set(session.id, session);
    session.owner.sessions.set(session.id, session);
  }

  #displace(session: Session): void {
    this.#all.delete(session.id);
    session.owner.sessions.delete(session.id);
  }

  #end(session: Session): void {
    this.#displace(session);
    this.#count(session, -fixedBytes - countBytes(session.traversal));
    const { holder, sessions } = session.owner;
    if (sessions.size === 0) this.#owners.delete(holder);
    session.live = false;
    session.traversal = blank;
  }

  #makeRoom(holder: string, now: number): void {
    const { sessions, sessions_per_key: perKey } = this.limits;
    const own = (): ReadonlyMap<string, Session> => this.#owners.get(holder)?.sessions ?? new Map();
    const isFull = () => this.#all.size >= sessions;
    const isKeyFull = () => perKey > 0 && own().size >= perKey;
    if (!isFull() && !isKeyFull()) return;
    this.sweep(now);
    if (isKeyFull() && !this.#evict(own(), now))
      fail('TOO_MANY_SESSIONS', { count: own().size, seconds: retrySeconds });
    if (!isFull() || this.#evict(own(), now) || this.#evict(this.#all, now)) return;
    const share = perKey || sessions / shares;
    const count = own().size;
    if (count >= share && count < this.#all.size)
      fail('SHARE_EXCEEDED', { count, what: 'open sessions', seconds: retrySeconds });
    if (!this.#endOne('sessions', share, this.#owners.get(holder)))
      fail('TOO_MANY_SESSIONS', { count: this.#all.size, seconds: retrySeconds });
  }

  /** Ends the least recently used of `sessions` if it is idle long enough. Returns whether it did. */
  #evict(sessions: ReadonlyMap<string, Session>, now: number): boolean {
    for (const session of sessions.values()) {
      if (session.busy) continue;
      if (now - session.lastUsed < evictableMs) return false;
      this.#end(session);
      this.#evicted++;
      return true;
    }
    return false;
  }

  /**
   * Returns a version 4 UUID (RFC 9562, section 5.4) with 122 random bits; in a cluster followed by the node.
   */
  #newId(): string {
    const bytes = this.randomBytes(16).slice();
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return this.node === '' ? printUuid(bytes) : `${printUuid(bytes)}.${this.node}`;
  }
}
