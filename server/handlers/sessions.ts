// Implements the `mcp/` endpoints: opens, closes and expires sessions. Runs the calls of a session
// (session-call.ts). Invariant: the calls of one session run one at a time, in order of arrival.
import {
  type ElementKind,
  type Session,
  SessionStore,
  TrellisError,
  fail,
  findTool,
  labelOf,
  readConnection,
  scanBody,
} from '../../engine/internal.js';
import type { ServerSample } from '../telemetry/metric-definitions.js';
import {
  type SessionCall,
  SessionCallRunner,
  type SessionCaller,
  type SessionOptions,
  type SessionReply,
  checkRole,
} from './session-call.js';

/** Contents of a traversal: the number of items, and the kind of its first one. */
export interface Held {
  count: number;
  kind?: ElementKind;
}

export interface SessionService {
  /**
   * Returns the reply body of `POST /mcp/<tool>`, without a promise if everything ran on this thread. Throws
   * or rejects with TrellisError. The function passed to `onCancellable` stops the call, or removes it from
   * the queue while it waits.
   */
  handle(
    tool: string,
    body: Uint8Array,
    caller: SessionCaller,
    budgetMs: number,
    onCancellable?: (cancel: () => void) => void,
  ): Uint8Array | Promise<Uint8Array>;
  /** Opens an empty session. Returns its id. */
  open(caller: SessionCaller): string;
  /** Ends a session. A missing session is ignored. */
  close(id: string, caller: SessionCaller): void;
  /** Returns the contents of the traversal. Fails CONNECTION_NOT_FOUND. */
  held(id: string, caller: SessionCaller): Held;
  /** Ends sessions that have been idle too long. Must be called at least once a minute. */
  sweep(nowMs: number): void;
  metrics(): ServerSample[];
  /** Ends all sessions of a key. */
  dropKey(keyId: string): void;
}

export function createSessionService(options: SessionOptions): SessionService {
  return new Sessions(options);
}

const encoder = new TextEncoder();

class Sessions implements SessionService {
  readonly #store: SessionStore;
  readonly #runner: SessionCallRunner;

  constructor(private readonly options: SessionOptions) {
    this.#store = new SessionStore(options.limits, options.randomBytes, options.node);
    this.#runner = new SessionCallRunner(options, this.#store);
  }

  handle(
    tool: string,
    body: Uint8Array,
    caller: SessionCaller,
    budgetMs: number,
    onCancellable?: (cancel: () => void) => void,
  ): SessionReply {
    const { enabled, database, limits, now } = this.options;
    if (!enabled) {
      const hint = 'Set `sessions.enabled` to true.';
      fail('FEATURE_DISABLED', { feature: 'The `mcp/` interface' }, { hint });
    }
    const query = findTool(tool, database.program);
    checkRole(query, caller);
    const view = scanBody(body, limits);
    if (tool === 'init') return encoder.encode(`"${this.#open(caller)}"`);
    const session = this.#store.get(readConnection(tool, view), caller.keyId, now());
    const turn = () => this.#turn(session, { tool, view, body, budgetMs, caller, onCancellable });
    if (this.#store.enter(session)) return turn();
    return this.#wait(session, turn, onCancellable);
  }

  open(caller: SessionCaller): string {
    return this.#open(caller);
  }

  #open({ keyId, whose = keyId }: SessionCaller): string {
    const holder = typeof whose === 'string' ? whose : whose.holder;
    return this.#store.open(keyId, this.options.now(), holder).id;
  }

  close(id: string, { keyId }: SessionCaller): void {
    this.#store.close(id, keyId);
  }

  held(id: string, caller: SessionCaller): Held {
    const { traversal } = this.#store.get(id, caller.keyId, this.options.now());
    const ids = traversal.items?.ids ?? [];
    if (ids.length === 0) return { count: 0 };
    const kind = this.options.database.view((view) => {
      const first = view.record(ids[0]!);
      return first && view.catalog.label(labelOf(first)).kind;
    });
    return { count: ids.length, ...(kind && { kind }) };
  }

  sweep(nowMs: number): void {
    this.#store.sweep(nowMs);
  }

  dropKey(keyId: string): void {
    this.#store.dropByKey(keyId);
  }

  metrics(): ServerSample[] {
    const { open, bytes, created, expired, evicted } = this.#store.counts();
    return [
      { name: 'sessions', value: open },
      { name: 'session_bytes', value: bytes },
      { name: 'sessions_created_total', value: created },
      { name: 'sessions_expired_total', value: expired },
      { name: 'sessions_evicted_total', value: evicted },
    ];
  }

  /** Queues a call after the one that runs on its session. */
  #wait(
    session: Session,
    turn: () => SessionReply,
    onCancellable?: (cancel: () => void) => void,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const start = () => {
        try {
          resolve(turn());
        } catch (error) {
          reject(error);
        }
      };
      const withdraw = this.#store.wait(session, start);
      onCancellable?.(() => {
        // The client has disconnected and does not read the error.
        if (withdraw()) reject(new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms: 0 } }));
      });
    });
  }

  /** Runs a call that has the session to itself, then releases the session. */
  #turn(session: Session, call: SessionCall): SessionReply {
    const leave = () => this.#store.leave(session, this.options.now());
    let reply: SessionReply;
    try {
      reply = this.#runner.perform(session, call);
    } catch (error) {
      leave();
      throw error;
    }
    if (reply instanceof Promise) return reply.finally(leave);
    leave();
    return reply;
  }
}
