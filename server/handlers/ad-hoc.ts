// Handles `POST /_admin/query {source, parameters, write, explain, profile}`, and `/_query` for clients that
// call by name: the query comes with its call. It is compiled within limits that keep this thread free; a
// long source is compiled on another thread. The query runs, and its response looks, like those of a stored
// query.
import {
  adHocName,
  type Database,
  fail,
  type Limits,
  prepareAdHocCall,
  readAdHocCall,
} from '../../engine/internal.js';
import type { Exchange } from '../http/exchange.js';
import type { RouteMetrics } from '../telemetry/metrics.js';
import type { Forwarded } from '../cluster/forward/precomputed-embeddings.js';
import { refuseIdempotencyKey } from '../pipeline/idempotency-key.js';
import { budgetOf } from '../pipeline/timeout.js';
import type { Endpoint, Result } from '../pipeline/router.js';
import { explanationBody } from './explain.js';

export interface AdHocOptions {
  enabled: boolean;
  database: () => Database;
  limits: Limits;
  /** Whether members that are not parameters are errors. */
  strict: boolean;
  metrics: RouteMetrics;
  /**
   * Cluster only. Makes the leader run the call if its body writes; `answer` runs it here. Returns undefined
   * outside a cluster.
   */
  onLeader?: (
    exchange: Exchange,
    forwarded: Forwarded,
    answer: () => Result | Promise<Result>,
  ) => Promise<Result> | undefined;
  /**
   * Cluster only. Waits until this node is as fresh as a read demands. Returns undefined if it is.
   */
  fresh?: (exchange: Exchange) => Promise<unknown> | undefined;
}

export const adHocPaths = ['/_admin/query', `/${adHocName}`] as const;

export function adHocEndpoint(options: AdHocOptions): Endpoint {
  const { limits, metrics } = options;
  return {
    metrics,
    access: 'admin',
    writes: false,
    availableDuringStartup: false,
    budgetMs: Math.max(limits.query_time, limits.write_time),
    handle: (exchange, body) => {
      if (!options.enabled) {
        const hint = 'Set `server.ad_hoc_queries` to true, or use `trellis dev`.';
        fail('FEATURE_DISABLED', { feature: 'Running queries that are no stored ones' }, { hint });
      }
      return run(exchange, body, options);
    },
  };
}

function run(
  exchange: Exchange,
  body: Uint8Array,
  options: AdHocOptions,
): Result | Promise<Result> {
  const { limits, strict } = options;
  const database = options.database();
  const rules = { limits, strict };
  const prepared = prepareAdHocCall(body, database.program, rules);
  // By then, another program may be in use.
  if (prepared !== undefined) return prepared.then(() => run(exchange, body, options));
  const call = readAdHocCall(body, database.program, rules);
  const { query, plan, args } = call;
  if (call.explain) return explanationBody(database, query);
  if (plan.writes) refuseIdempotencyKey(exchange, 'queries in the call know none');
  exchange.called = { query: query.name, writes: plan.writes };
  const budgetMs = budgetOf(exchange, plan.writes ? limits.write_time : limits.query_time);
  const answer = (): Result | Promise<Result> => {
    const result = database.run(plan, args, undefined, {
      budgetMs,
      caller: exchange,
      embeddings: exchange.embeddings,
      onCancellable: (cancel) => {
        exchange.cancel = cancel;
      },
      onWork: (cost) => {
        exchange.work = cost;
      },
    });
    return result instanceof Promise ? result.then((done) => done.body) : result.body;
  };
  const embed = () => database.embedAhead({ plan, args }, budgetMs);
  const forwarded = { body, embed, budgetMs };
  const onOtherNode = plan.writes
    ? options.onLeader?.(exchange, forwarded, answer)
    : options.fresh?.(exchange)?.then(answer);
  return onOtherNode ?? answer();
}
