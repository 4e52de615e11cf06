// `POST /_admin/query {source, parameters, write, explain, profile}`, and `/_query` for clients that call by
// name: a query that comes with its call. Compiled under bounds that keep this thread free for
// others, a long one beside it, and run like a stored one. The answer is that of a stored query, too.
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
import { refuseOnce } from '../pipeline/idempotency-key.js';
import { budgetOf } from '../pipeline/timeout.js';
import type { Endpoint, Result } from '../pipeline/router.js';
import { explanationBody } from './explain.js';

export interface AdHocOptions {
  enabled: boolean;
  database: () => Database;
  limits: Limits;
  /** Members that are no parameters are faults. */
  strict: boolean;
  metrics: RouteMetrics;
  /** Of a cluster: has the leader do it, as the body asks; `answer` is how it does. */
  onLeader?: (
    exchange: Exchange,
    asked: Forwarded,
    answer: () => Result | Promise<Result>,
  ) => Promise<Result> | undefined;
  /** Of a cluster: when this node is as fresh as a read asks; undefined: it is. */
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
  // Another program may answer by then.
  if (prepared !== undefined) return prepared.then(() => run(exchange, body, options));
  const call = readAdHocCall(body, database.program, rules);
  const { query, plan, args } = call;
  if (call.explain) return explanationBody(database, query);
  if (plan.writes) refuseOnce(exchange, 'queries in the call know none');
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
  const asked = { body, embed, budgetMs };
  const elsewhere = plan.writes
    ? options.onLeader?.(exchange, asked, answer)
    : options.fresh?.(exchange)?.then(answer);
  return elsewhere ?? answer();
}
