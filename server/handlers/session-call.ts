// Runs one call of a session: plans it, runs the plan on this node or on the leader, and stores the result in
// the session. Invariant: a call changes its session only if it succeeded.
import {
  type CallOptions,
  type Database,
  type JsonView,
  type Limits,
  type Query,
  type Session,
  type SessionStore,
  type Toolbox,
  type Work,
  TrellisError,
  copyWindow,
  createToolbox,
  fail,
  findTool,
  nextPlan,
  prepare,
  unreachable,
} from '../../engine/internal.js';
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

export type SessionReply = Uint8Array | Promise<Uint8Array>;
export type OnCancellable = ((cancel: () => void) => void) | undefined;

const encoder = new TextEncoder();

/**
 * Continues with a value or a promise. A value that is available already does not wait for the event loop.
 */
function then<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** One call of a session's tool. */
export interface SessionCall {
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

export class SessionCallRunner {
  #toolbox: Toolbox | undefined;

  constructor(
    private readonly options: SessionOptions,
    private readonly store: SessionStore,
  ) {}

  /**
   * Runs a call. A call that was interrupted by a reload runs again with the new program, because nothing of
   * it was done.
   */
  perform(session: Session, call: SessionCall, attempts = 3): SessionReply {
    const again = (error: unknown): SessionReply => {
      const isSwap = error instanceof TrellisError && error.code === 'SCHEMA_CHANGED';
      if (!isSwap || attempts === 1) throw error;
      checkRole(findTool(call.tool, this.options.database.program), call.caller);
      return this.perform(session, call, attempts - 1);
    };
    try {
      const reply = this.#attempt(session, call);
      return reply instanceof Promise ? reply.catch(again) : reply;
    } catch (error) {
      return again(error);
    }
  }

  #attempt(session: Session, call: SessionCall): SessionReply {
    const { tool, view, budgetMs, onCancellable } = call;
    if (!session.live) fail('CONNECTION_NOT_FOUND', { id: session.id }, { path: '/connection_id' });
    const { whose } = call.caller;
    const until: Until = { deadline: this.options.now() + budgetMs, whose, onCancellable };
    const work = prepare(tool, view, session, this.#currentToolbox());
    switch (work.kind) {
      case 'answer':
        this.store.settle(session, work.after);
        return encoder.encode(work.body);
      case 'next':
        return this.#next(session, session.traversal.cursor, 1, work.data, until);
      case 'run':
        return this.#onLeader(session, work, until, call) ?? this.#run(session, work, until);
      default:
        return unreachable(work);
    }
  }

  #run(session: Session, work: Run, until: Until): SessionReply {
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
        this.store.settle(session, after, result.items);
        // [compat] The first item was part of the reply: `next` returns the second.
        if (this.options.compat && answersFirst(work)) this.store.advance(session, 1);
        return result.body;
      },
    );
  }

  /** Runs a write on the leader. Returns undefined if it runs here. */
  #onLeader(
    session: Session,
    work: Run,
    until: Until,
    call: SessionCall,
  ): SessionReply | undefined {
    const { database } = this.options;
    const { plan, after } = work;
    const query = plan.writes ? findTool(call.tool, database.program) : undefined;
    if (query === undefined) return undefined;
    const body = queryBody(query, call.view, call.body);
    const startedAt = performance.now();
    return call.caller.callOnLeader?.(query.name, body)?.then((reply) => {
      if (plan.output.kind !== 'items') {
        this.store.settle(session, after);
        return reply;
      }
      this.store.settle(session, after, itemsIn(reply, database, startedAt));
      const first = this.#next(session, 0, 1, plan.output.data, until);
      // The reply has the first item, as for any new traversal, but `next` returns it again.
      return then(first, (body) => {
        this.store.advance(session, 0);
        return body;
      });
    });
  }

  /**
   * Returns the first item from position `start` on that still exists. Reads `count` items first, and twice
   * as many each time if all of them were deleted. Reading everything therefore costs O(n) in total.
   */
  #next(session: Session, start: number, count: number, data: boolean, until: Until): SessionReply {
    const part = copyWindow(session.traversal, start, count);
    if (part.ids.length === 0) {
      this.store.advance(session, start);
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
      this.store.advance(session, start + part.ids.indexOf(found) + 1);
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

/** Fails FORBIDDEN if the caller may not run the query, or use sessions. */
export function checkRole(query: Query | undefined, caller: SessionCaller): void {
  const role = query?.plan.writes ? 'write' : 'read';
  if (role === 'write' ? caller.mayWrite : caller.mayRead) return;
  const action = query === undefined ? 'use sessions' : `run \`${query.name}\``;
  fail('FORBIDDEN', { action }, { hint: `The key needs the role \`${role}\`.` });
}
