// Defines `POST /<Query>` and `POST /mcp/<tool>` as endpoints: the required rights, the time budget, and the
// handler.
import {
  type CallOptions,
  type Database,
  type Limits,
  type Program,
  type Query,
  TrellisError,
  emptySchema,
  excerpt,
  fail,
  findTool,
} from '../../engine/internal.js';
import type { Exchange } from '../http/exchange.js';
import { explanationBody } from './explain.js';
import type { Caller } from '../auth/keys.js';
import type { SessionCaller } from './session-call.js';
import type { SessionService } from './sessions.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { CallOnLeader } from '../cluster/forward/consistency.js';
import { idempotencyKeyOf, refuseIdempotencyKey } from '../pipeline/idempotency-key.js';
import { budgetOf } from '../pipeline/timeout.js';
import { explainFlagOf } from '../pipeline/explain-flags.js';
import type { Endpoint, Result, ToolRoutes } from '../pipeline/router.js';

/** Fails unless the caller may see plans. */
export type GuardPlans = (exchange: Exchange, caller: Caller | undefined, query: string) => void;

/** Returns one endpoint per query of the database's program. */
export function queryEndpoints(
  database: Database,
  limits: Limits,
  metrics: Metrics,
  guardPlans: GuardPlans,
): Map<string, Endpoint> {
  const endpoints = database.program.queries.map((query): [string, Endpoint] => {
    const { name, plan } = query;
    const budgetMs = budgetFor(query, limits);
    return [
      name,
      {
        metrics: metrics.route(name),
        access: plan.writes ? 'write' : 'read',
        query: name,
        writes: plan.writes,
        ...(query.scatter && { sharded: true }),
        availableDuringStartup: false,
        budgetMs,
        // Explain and profile requests need no capacity in a queue.
        reject: (exchange, bytes) =>
          exchange.query === '' ? database.refusal(name, bytes, exchange) : undefined,
        handle: (exchange, body, caller) => {
          const flag = exchange.query === '' ? undefined : explainFlagOf(exchange.query);
          if (flag !== undefined) guardPlans(exchange, caller, name);
          if (flag === 'explain') return explanationBody(database, query);
          const idempotency = plan.writes ? idempotencyKeyOf(exchange, caller) : undefined;
          return database.call(name, body, {
            budgetMs: budgetOf(exchange, budgetMs),
            caller: exchange,
            onCancellable: cancelInto(exchange),
            onWork: (cost) => {
              exchange.work = cost;
            },
            ...(flag === 'profile' && { profile: true }),
            ...(query.scatter && scatteredOptions(exchange)),
            ...(idempotency && { idempotency }),
            ...(exchange.embeddings && { embeddings: exchange.embeddings }),
          });
        },
      },
    ];
  });
  return new Map(endpoints);
}

function scatteredOptions(
  exchange: Exchange,
): Pick<CallOptions, 'partial' | 'onShards' | 'shards'> {
  const partial = exchange.partial.toLowerCase() === 'allow';
  const onShards = (answered: number, shards: number): void =>
    exchange.addHeaders([['Trellis-Shards', `${answered}/${shards}`]]);
  return { partial, onShards, ...(exchange.shards && { shards: exchange.shards }) };
}

function budgetFor(query: Query | undefined, limits: Limits): number {
  return query?.plan.writes ? limits.write_time : limits.query_time;
}

export interface ToolOptions {
  /** Program of the database; undefined before it was opened. */
  program: () => Program | undefined;
  handler: () => SessionService;
  /**
   * Cluster only. Forwards a request to the node that holds its session. Returns undefined if it cannot.
   */
  onOtherNode?: (node: string, exchange: Exchange, body: Uint8Array) => Promise<Result> | undefined;
  /** Cluster only. Makes the leader run a write. Returns undefined if it runs here. */
  callOnLeader?: CallOnLeader;
  limits: Limits;
  metrics: Metrics;
}

/** Returns the session tools and the `<Query>Mcp` tools of the current program. */
export function toolRoutes(options: ToolOptions): ToolRoutes {
  let known = new Map<string, Endpoint>();
  let knownFor: Program | undefined;
  return {
    find: (tool) => {
      const program = options.program() ?? emptyProgram;
      if (knownFor !== program) {
        known = new Map();
        knownFor = program;
      }
      let endpoint = known.get(tool);
      if (endpoint !== undefined) return endpoint;
      try {
        endpoint = toolEndpoint(tool, program, options);
      } catch (error) {
        if (error instanceof TrellisError) return undefined;
        throw error;
      }
      known.set(tool, endpoint);
      return endpoint;
    },
    failUnknown: (tool) => {
      findTool(tool, options.program() ?? emptyProgram);
      return fail('NOT_FOUND', { name: excerpt(tool), kind: 'MCP' });
    },
  };
}

/** Fails NOT_FOUND for an unknown tool. */
function toolEndpoint(tool: string, program: Program, options: ToolOptions): Endpoint {
  const query = findTool(tool, program);
  const writes = query?.plan.writes ?? false;
  const budgetMs = budgetFor(query, options.limits);
  return {
    metrics: options.metrics.route(`mcp/${tool}`),
    access: writes ? 'write' : 'read',
    ...(query === undefined ? { reads: true } : { query: query.name }),
    writes,
    sessionCall: true,
    availableDuringStartup: false,
    budgetMs,
    handle: (exchange, body, caller) => {
      // The response of a session depends on its state, so it cannot be repeated.
      if (writes) refuseIdempotencyKey(exchange, 'sessions know none');
      const budget = budgetOf(exchange, budgetMs);
      const rights = callerOf(caller, exchange, (name, flag) =>
        options.callOnLeader?.(exchange, name, flag, budget),
      );
      try {
        return options.handler().handle(tool, body, rights, budget, cancelInto(exchange));
      } catch (error) {
        if (!(error instanceof TrellisError) || error.code !== 'SESSION_ELSEWHERE') throw error;
        const answer = options.onOtherNode?.(String(error.data.args.node), exchange, body);
        if (answer === undefined) throw error;
        return answer;
      }
    },
  };
}

const emptyProgram: Program = {
  schema: emptySchema,
  olderSchemas: [],
  migrations: [],
  queries: [],
  compat: false,
};

function cancelInto(exchange: Exchange): (cancel: () => void) => void {
  return (cancel) => {
    exchange.cancel = cancel;
  };
}

/**
 * Returns the rights for the session service. The scope and role for query tools are checked before.
 */
export function callerOf(
  caller: Caller | undefined,
  whose: CallOptions['caller'],
  callOnLeader?: SessionCaller['callOnLeader'],
): SessionCaller {
  if (caller === undefined)
    return { keyId: '', whose, mayRead: true, mayWrite: true, callOnLeader };
  const { keyId, role } = caller;
  const mayWrite = role === 'write' || role === 'admin';
  return { keyId, whose, mayRead: mayWrite || role === 'read', mayWrite, callOnLeader };
}
