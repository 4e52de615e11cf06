// `POST /_admin/query {source, parameters, write, explain, profile}`: a query that comes with its call.
// Compiled here, under bounds that keep this thread free for others, and run like a stored one. The
// answer is that of a stored query, too.
import {
  argumentsOf,
  type Database,
  describeJson,
  fail,
  type JsonView,
  type Limits,
  queryOf,
  scanBody,
} from '../../engine/index.js';
import type { Exchange } from '../http/exchange.js';
import type { RouteMetrics } from '../observe/metrics.js';
import { budgetOf } from '../request/reception.js';
import type { Endpoint, Result } from '../request/routes.js';
import { explanationBody } from './explained.js';

/** Of the text. What it compiles to is bounded by the limits of sources. */
const sourceMax = 64 * 1024;

export interface AdHocOptions {
  enabled: boolean;
  database: () => Database;
  limits: Limits;
  /** Members that are no parameters are faults. */
  strict: boolean;
  metrics: RouteMetrics;
}

export const adHocPath = '/_admin/query';

export function adHocEndpoint(options: AdHocOptions): Endpoint {
  const { limits, metrics } = options;
  return {
    metrics,
    access: 'admin',
    writes: false,
    always: false,
    budgetMs: Math.max(limits.query_time, limits.write_time),
    handle: (exchange, body) => {
      if (!options.enabled) {
        const hint = 'Set `server.adhoc` to true, or use `trellis dev`.';
        fail('FEATURE_DISABLED', { feature: 'Running queries that are no stored ones' }, { hint });
      }
      return run(exchange, scanBody(body, limits), options);
    },
  };
}

function run(exchange: Exchange, body: JsonView, options: AdHocOptions): Result | Promise<Result> {
  const { limits, strict } = options;
  const database = options.database();
  const query = queryOf(sourceIn(body), database.program, limits);
  const { plan, name } = query;
  if (flagIn(body, 'explain')) return explanationBody(database, query);
  if (plan.writes && !flagIn(body, 'write')) {
    const hint = 'Say `"write": true`; `trellis query --write` does.';
    fail(
      'PARAM_VALUE',
      { param: 'write', allowed: '`true`: the query writes', got: 'nothing' },
      { hint },
    );
  }
  const given = body.member('parameters') ?? scanBody(nothing, limits);
  if (given.kind !== 'object' && given.kind !== 'null') refuse('parameters', 'Object', given);
  const args = argumentsOf(query, given, { limits, strict });
  exchange.called = { query: name, writes: plan.writes };
  const result = database.run(
    flagIn(body, 'profile') ? { ...plan, profile: true } : plan,
    args,
    undefined,
    {
      budgetMs: budgetOf(exchange, plan.writes ? limits.write_time : limits.query_time),
      onCancellable: (cancel) => {
        exchange.cancel = cancel;
      },
      onWork: (cost) => {
        exchange.work = cost;
      },
    },
  );
  return result instanceof Promise ? result.then(({ body }) => body) : result.body;
}

const nothing = new Uint8Array(0);

function sourceIn(body: JsonView): string {
  const source = body.member('source');
  if (source === undefined) {
    return fail('PARAM_MISSING', { owner: adHocPath, param: 'source', type: 'String' });
  }
  if (source.kind !== 'string') return refuse('source', 'String', source);
  if (source.size > sourceMax) {
    const args = { param: 'source', size: source.size, max: sourceMax };
    fail('VALUE_TOO_LARGE', args, { path: '/source' });
  }
  return source.text();
}

function flagIn(body: JsonView, name: string): boolean {
  const flag = body.member(name);
  if (flag === undefined || flag.kind === 'null') return false;
  return flag.kind === 'boolean' ? flag.boolean() : refuse(name, 'Boolean', flag);
}

function refuse(param: string, type: string, view: JsonView): never {
  return fail('PARAM_TYPE', { param, type, got: describeJson(view) }, { path: `/${param}` });
}
