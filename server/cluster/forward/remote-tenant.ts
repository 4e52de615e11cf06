// Handles requests for a tenant whose database is on another node: asks that node with the caller's own key.
// Invariant: only configured members are asked, best placed first, and a forwarded request is never forwarded
// again. A write that may have been done is not repeated on another member.
import { setTimeout as pause } from 'node:timers/promises';
import { TrellisError, fail } from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import { type HeaderList, jsonHeaders } from '../../http/header-list.js';
import { keyOf } from './forward.js';
import { codeOf, type NodeAnswer, type NodeClient, targetOf } from '../node-client.js';
import type { DatabaseRequestHandler } from '../../pipeline/request-pipeline.js';
import type { Endpoint, Reply } from '../../pipeline/router.js';
import { type Member, ranked } from '../placement.js';

export interface RemoteTenantOptions {
  main: DatabaseRequestHandler;
  tenant: string;
  /** All members except this node. */
  members: readonly Member[];
  calls: NodeClient;
  /** Longest wait in milliseconds for a member that takes writes. */
  waitMs: number;
}

const roundMs = 50;

/** Errors that say that nothing was done, and that another member may do it. */
const goesOn: ReadonlySet<string> = new Set(['TENANT_UNKNOWN', 'NOT_LEADER', 'NO_LEADER']);

export function tenantOnOtherNode(options: RemoteTenantOptions): DatabaseRequestHandler {
  const { main, tenant } = options;
  const post: Endpoint = {
    metrics: main.metrics.route('other'),
    access: 'any',
    // Only the other node knows whether the call writes, so no timeout applies here.
    writes: true,
    availableDuringStartup: false,
    ndjson: true,
    budgetMs: 0,
    handle: (exchange, body) => callMembers(options, exchange, body),
  };
  return {
    tenant,
    routes: {
      find: () => ({ post, get: post }),
      endpointFor: () => post,
      unknownError: () => ({ code: 'TENANT_UNKNOWN', args: { tenant } }),
      failMethod: () => fail('TENANT_UNKNOWN', { tenant }),
    },
    metrics: main.metrics,
    requestLog: main.requestLog,
    consistency: undefined,
    unavailableReason: () => main.unavailableReason(),
  };
}

/**
 * Asks the members one after another. Fails TENANT_UNKNOWN if no member has the tenant, else with the error
 * of the last one.
 */
async function callMembers(
  { tenant, members, calls, waitMs }: RemoteTenantOptions,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Reply> {
  // Requests with other methods come from nodes and browsers, and are not forwarded.
  if (exchange.method !== 'POST') fail('TENANT_UNKNOWN', { tenant });
  const headers = headersOf(exchange);
  const end = performance.now() + waitMs;
  for (;;) {
    let refusal: NodeAnswer | undefined;
    for (const { address } of ranked(tenant, members)) {
      const path = targetOf(exchange);
      const answer = await calls.forward(address, { path, headers, body });
      if (answer === undefined) continue;
      const code = codeOf(answer);
      if (!goesOn.has(code)) return replyOf(answer, exchange);
      if (code !== 'TENANT_UNKNOWN') refusal = answer;
    }
    if (refusal === undefined) throw new TrellisError({ code: 'TENANT_UNKNOWN', args: { tenant } });
    if (performance.now() >= end || exchange.settled) return replyOf(refusal, exchange);
    await pause(roundMs);
  }
}

function replyOf(answer: NodeAnswer, exchange: Exchange): Reply {
  const position = answer.header('trellis-position');
  if (position !== '') exchange.addHeaders([['Trellis-Position', position]]);
  const status = `${answer.status} ${answer.reason}`;
  const type = answer.header('content-type');
  const headers: HeaderList = type.includes('json') ? jsonHeaders : [['Content-Type', type]];
  return { status, headers, body: answer.body };
}

function headersOf(exchange: Exchange): Record<string, string> {
  const { timeoutHeader, idempotencyKey, traceparent, consistency, after } = exchange;
  const { requestId, contentType } = exchange;
  return {
    ...keyOf(exchange),
    'X-Request-Id': requestId,
    'Trellis-Passed-On': 'tenant',
    // The original client is not local to the next machine either, so its address is passed along.
    'X-Forwarded-For': [exchange.forwardedFor, exchange.peer()].filter(Boolean).join(', '),
    ...(exchange.isProxied && { Via: '1.1 trellis' }),
    ...(contentType !== '' && { 'Content-Type': contentType }),
    ...(timeoutHeader !== '' && { 'X-Request-Timeout-Ms': timeoutHeader }),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...(traceparent !== '' && { traceparent }),
    ...(consistency !== '' && { 'Trellis-Consistency': consistency }),
    ...(after !== '' && { 'Trellis-After': after }),
  };
}
