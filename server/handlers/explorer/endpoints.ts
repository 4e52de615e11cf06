// The routes of the explorer: the page, its files, and the data for the pages. The engine reads the data as
// for any query. Invariant: at most two reads of one key run at a time, so that a page does not slow down
// other callers.
import { type Database, fail, type Limits, type Plan } from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import type { Access } from '../../auth/request-guard.js';
import type { Exchange } from '../../http/exchange.js';
import { jsonHeaders, okStatus } from '../../http/header-list.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { budgetOf } from '../../pipeline/timeout.js';
import type { Endpoint, Result } from '../../pipeline/router.js';
import { ExplorerAssets, wantsPage } from './assets.js';
import { KeyedSemaphore } from './per-key-limit.js';
import { graphReads } from './graph-reads.js';
import { StatusPage, type StatusOptions } from './status.js';

export interface ExploreOptions extends StatusOptions {
  enabled: boolean;
  limits: Limits;
  metrics: Metrics;
  /** Returns the response of `GET /_explore/sources`. */
  sources: () => unknown;
}

export function exploreEndpoints(options: ExploreOptions): {
  fixed: Map<string, Endpoint>;
  actions: Map<string, Endpoint>;
} {
  const fixed = new Map<string, Endpoint>();
  const actions = new Map<string, Endpoint>();
  const metrics = options.metrics.route('_explore');
  const budgetMs = options.limits.query_time;
  const endpoint = (access: Access, handle: Endpoint['handle']): Endpoint => ({
    metrics,
    access,
    writes: false,
    reads: access === 'read',
    availableDuringStartup: false,
    budgetMs,
    handle: (exchange, body, caller) => {
      if (!options.enabled) refuseDisabled();
      return handle(exchange, body, caller);
    },
  });
  addPage(options, fixed);
  const status = new StatusPage(options);
  fixed.set(
    '/_explore/status',
    endpoint('any', ({ query }, _, caller) => status.body(query, caller)),
  );
  fixed.set(
    '/_explore/sources',
    endpoint('admin', () => Buffer.from(JSON.stringify(options.sources()))),
  );
  const runRead = graphReadRunner(options);
  for (const [name, { access, plan }] of graphReads) {
    actions.set(
      `/_explore/${name}`,
      endpoint(access, (exchange, body, caller) =>
        runRead(exchange, caller, plan(body, options.limits)),
      ),
    );
  }
  return { fixed, actions };
}

function refuseDisabled(): never {
  const hint = 'Set `server.explorer` to true.';
  return fail('FEATURE_DISABLED', { feature: 'The explorer' }, { hint });
}

/**
 * Runs reads, at most two at a time for each key. Skips the read of a client that has disconnected.
 */
function graphReadRunner({ database, limits }: { database: () => Database; limits: Limits }) {
  const line = new KeyedSemaphore();
  const read = async (exchange: Exchange, plan: Plan): Promise<Result> => {
    const { body } = await database().run(plan, [], undefined, {
      budgetMs: budgetOf(exchange, limits.query_time),
      caller: exchange,
      onCancellable: (cancel) => {
        exchange.cancel = cancel;
      },
      onWork: (cost) => {
        exchange.work = cost;
      },
    });
    return body;
  };
  return (exchange: Exchange, caller: Caller | undefined, plan: Plan): Promise<Result> =>
    line.run(caller?.keyId ?? '', () =>
      exchange.settled ? Promise.resolve(Buffer.alloc(0)) : read(exchange, plan),
    );
}

/** Adds `GET /` for browsers and other clients, and the files of the page. */
function addPage(options: ExploreOptions, fixed: Map<string, Endpoint>): void {
  const root = Buffer.from(JSON.stringify({ name: 'trellisdb', ready: true }));
  const open = (path: string, handle: Endpoint['handle'], always: boolean): void => {
    const metrics = options.metrics.route(path === '/' ? '/' : '_explorer');
    const budgetMs = options.limits.query_time;
    fixed.set(path, {
      metrics,
      access: 'open',
      writes: false,
      availableDuringStartup: always,
      budgetMs,
      handle,
    });
  };
  const plain = {
    status: okStatus,
    headers: [...jsonHeaders, ['Vary', 'Accept']] as const,
    body: root,
  };
  if (!options.enabled) {
    const missing = { name: '/', kind: 'Page' };
    open('/', ({ accept }) => (wantsPage(accept) ? fail('NOT_FOUND', missing) : plain), false);
    return;
  }
  const assets = new ExplorerAssets();
  open('/', ({ accept }) => (wantsPage(accept) ? assets.page() : undefined) ?? plain, false);
  for (const name of assets.names) {
    open(`/_explorer/${name}`, (exchange) => assets.answer(name, exchange), true);
  }
}
