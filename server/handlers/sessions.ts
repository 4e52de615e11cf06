// Implements the `mcp/` endpoints. Finds the session and runs its calls one at a time, in order of arrival.
// The database runs their plans. Invariant: a call changes its session only if it succeeded.
import {
  type CallOptions,
  readConnection,
  type Database,
  type ElementKind,
  fail,
  findTool,
  type JsonView,
  labelOf,
  type Limits,
  nextPlan,
  prepare,
  type Query,
  type Session,
  SessionStore,
  scanBody,
  type Toolbox,
  createToolbox,
  TrellisError,
  unreachable,
  type Work,
  copyWindow,
} from '../../engine/internal.js';
import type { ServerSample } from '../telemetry/metric-definitions.js';
import { itemsIn, queryBody } from '../cluster/forward/session-on-leader.js';

export interface SessionOptions {
  database: Database;
  limits: Limits;
  /** Milliseconds of a clock that never steps back. */
  now: () => number;
  /** Returns this many unpredictable bytes. */
  randomBytes: (count: number) => Uint8Array;
  schemaFormat: 'object' | 'string';
  compat: boolean;
  textEnabled: boolean;
  enabled: boolean;
  /** Cluster only. Name of the node that holds the sessions. */
  node?: string;
}

/**
 * The caller of a tool. For query tools the flags are about that query, for all others about the key.
 */
export interface SessionCaller {
  /** Empty without a key. */
  keyId: string;
  /** Holder whose share the calls and sessions use. */
  whose?: CallOptions['caller'];
  mayRead: boolean;
  mayWrite: boolean;
  /** Cluster only. Makes the leader run a query that writes. Returns undefined if it runs here. */
  callOnLeader?: ((query: string, body: Uint8Array) => Promise<Uint8Array> | undefined) | undefined;
}

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
  return new SessionCalls(options);
}

type Reply = Uint8Array | Promise<Uint8Array>;

const encoder = new TextEncoder();

/**
 * Continues with a value or a promise. A value that is already there takes no detour through the event loop.
 */
function then<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

type OnCancellable = ((cancel: () => void) => void) | undefined;

/** One call of a session's tool. */
interface Call {
  tool: string;
  view: JsonView;
  body: Uint8Array;
  budgetMs: number;
  caller: SessionCaller;
  onCancellable: OnCancellable;
}

type Run = Work & { kind: 'run' };

/** Time limit of a call. */
interface Until {
  deadline: number;
  whose: CallOptions['caller'];
  onCancellable: OnCancellable;
}

class SessionCalls implements SessionService {
  readonly #store: SessionStore;
  #toolbox: Toolbox | undefined;

  constructor(private readonly options: SessionOptions) {
    this.#store = new SessionStore(options.limits, options.randomBytes, options.node);
  }

  handle(
    tool: string,
    body: Uint8Array,
    caller: SessionCaller,
    budgetMs: number,
    onCancellable?: (cancel: () => void) => void,
  ): Reply {
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
    turn: () => Reply,
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
  #turn(session: Session, call: Call): Reply {
    const leave = () => this.#store.leave(session, this.options.now());
    let reply: Reply;
    try {
      reply = this.#perform(session, call);
    } catch (error) {
      leave();
      throw error;
    }
    if (reply instanceof Promise) return reply.finally(leave);
    leave();
    return reply;
  }

  /**
   * Runs a call. A call that was interrupted by a reload runs again with the new program, because nothing of
   * it was done.
   */
  #perform(session: Session, call: Call, attempts = 3): Reply {
    const again = (error: unknown): Reply => {
      const isSwap = error instanceof TrellisError && error.code === 'SCHEMA_CHANGED';
      if (!isSwap || attempts === 1) throw error;
      checkRole(findTool(call.tool, this.options.database.program), call.caller);
      return this.#perform(session, call, attempts - 1);
    };
    try {
      const reply = this.#attempt(session, call);
      return reply instanceof Promise ? reply.catch(again) : reply;
    } catch (error) {
      return again(error);
    }
  }

  #attempt(session: Session, call: Call): Reply {
    const { tool, view, budgetMs, onCancellable } = call;
    if (!session.live) fail('CONNECTION_NOT_FOUND', { id: session.id }, { path: '/connection_id' });
    const { whose } = call.caller;
    const until: Until = { deadline: this.options.now() + budgetMs, whose, onCancellable };
    const work = prepare(tool, view, session, this.#currentToolbox());
    switch (work.kind) {
      case 'answer':
        this.#store.settle(session, work.after);
        return encoder.encode(work.body);
      case 'next':
        return this.#next(session, session.traversal.cursor, 1, work.data, until);
      case 'run':
        return this.#onLeader(session, work, until, call) ?? this.#run(session, work, until);
      default:
        return unreachable(work);
    }
  }

  #run(session: Session, work: Run, until: Until): Reply {
    const { database } = this.options;
    const { program } = database;
    const { plan, embed, after } = work;
    const { items } = session.traversal;
    const args = embed
      ? database.embed(undefined, embed.type, [embed.text], this.#left(until))
      : work.args;
    return then(
      then(args, (args) => {
        if (database.program !== program) fail('SCHEMA_CHANGED');
        return database.run(plan, args, items, this.#bounds(until));
      }),
      (result) => {
        this.#store.settle(session, after, result.items);
        // [compat] The first item was part of the reply: `next` returns the second.
        if (this.options.compat && answersFirst(work)) this.#store.advance(session, 1);
        return result.body;
      },
    );
  }

  /** Runs a write on the leader. Returns undefined if it runs here. */
  #onLeader(session: Session, work: Run, until: Until, call: Call): Reply | undefined {
    const { database } = this.options;
    const { plan, after } = work;
    const query = plan.writes ? findTool(call.tool, database.program) : undefined;
    if (query === undefined) return undefined;
    const body = queryBody(query, call.view, call.body);
    const startedAt = performance.now();
    return call.caller.callOnLeader?.(query.name, body)?.then((reply) => {
      if (plan.output.kind !== 'items') {
        this.#store.settle(session, after);
        return reply;
      }
      this.#store.settle(session, after, itemsIn(reply, database, startedAt));
      const first = this.#next(session, 0, 1, plan.output.data, until);
      // The reply has the first item, as for any new traversal, but `next` returns it again.
      return then(first, (body) => {
        this.#store.advance(session, 0);
        return body;
      });
    });
  }

  /**
   * Returns the first item from position `start` on that still exists. Reads `count` items first, and twice
   * as many each time if all of them were deleted. Reading everything therefore costs O(n) in total.
   */
  #next(session: Session, start: number, count: number, data: boolean, until: Until): Reply {
    const part = copyWindow(session.traversal, start, count);
    if (part.ids.length === 0) {
      this.#store.advance(session, start);
      return encoder.encode('null');
    }
    const { database } = this.options;
    const plan = nextPlan(part.ids.length, data, database.program.compat);
    const run = database.run(plan, [], part, this.#bounds(until));
    return then(run, ({ items, body }) => {
      const found = items!.ids[0];
      if (found === undefined)
        return this.#next(session, start + part.ids.length, count * 2, data, until);
      // An element that exists is found at its first position.
      this.#store.advance(session, start + part.ids.indexOf(found) + 1);
      return body;
    });
  }

  /** Milliseconds left until `deadline`, at least one. */
  #left({ deadline }: Until): number {
    return Math.max(1, deadline - this.options.now());
  }

  #bounds(until: Until): CallOptions {
    const { onCancellable, whose } = until;
    const budgetMs = this.#left(until);
    return { budgetMs, caller: whose, ...(onCancellable && { onCancellable }) };
  }

  /** Returns the toolbox, which is made again when the database has another program. */
  #currentToolbox(): Toolbox {
    const { database, limits, textEnabled, schemaFormat, compat } = this.options;
    if (this.#toolbox?.program !== database.program) {
      const format = compat ? 'string' : schemaFormat;
      const settings = { limits, textEnabled, schemaFormat: format } as const;
      this.#toolbox = createToolbox(database.program, settings);
    }
    return this.#toolbox;
  }
}

/** Returns true if the reply is the first item of the new traversal. */
function answersFirst({ plan, after }: Work & { kind: 'run' }): boolean {
  const { output } = plan;
  return after === 'replace' && output.kind === 'items' && output.answer === 'first';
}

function checkRole(query: Query | undefined, caller: SessionCaller): void {
  const role = query?.plan.writes ? 'write' : 'read';
  if (role === 'write' ? caller.mayWrite : caller.mayRead) return;
  const action = query === undefined ? 'use sessions' : `run \`${query.name}\``;
  fail('FORBIDDEN', { action }, { hint: `The key needs the role \`${role}\`.` });
}
