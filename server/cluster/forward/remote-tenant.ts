// What answers for a tenant whose database another node has: that node, asked with the caller's own key.
// Invariant: only members of the configuration are asked, best place first, and what was passed on once is
// never passed on again; a write that may have been done is not asked for elsewhere.
import { setTimeout as pause } from 'node:timers/promises';
import { TrellisError, fail } from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import { type HeaderList, jsonHeaders } from '../../http/header-list.js';
import { keyOf } from './forward.js';
import { codeOf, type NodeAnswer, type NodeClient, targetOf } from '../node-client.js';
import type { DatabaseRequestHandler } from '../../pipeline/request-pipeline.js';
import type { Endpoint, Reply } from '../../pipeline/router.js';
import { type Member, ranked } from '../placement.js';

export interface ElsewhereOptions {
  main: DatabaseRequestHandler;
  tenant: string;
  /** All but this node. */
  members: readonly Member[];
  calls: NodeClient;
  /** Longest wait for one that takes writes. */
  waitMs: number;
}

const roundMs = 50;

/** Refusals that say that nothing was done, and that another member may do it. */
const goesOn: ReadonlySet<string> = new Set(['TENANT_UNKNOWN', 'NOT_LEADER', 'NO_LEADER']);

export function tenantElsewhere(options: ElsewhereOptions): DatabaseRequestHandler {
  const { main, tenant } = options;
  const post: Endpoint = {
    metrics: main.metrics.route('other'),
    access: 'any',
    // Whether it writes that node knows: the clock does not answer for it.
    writes: true,
    availableDuringStartup: false,
    ndjson: true,
    budgetMs: 0,
    handle: (exchange, body) => askMembers(options, exchange, body),
  };
  return {
    tenant,
    routes: {
      find: () => ({ post, get: post }),
      endpointFor: () => post,
      failUnknown: () => fail('TENANT_UNKNOWN', { tenant }),
      failMethod: () => fail('TENANT_UNKNOWN', { tenant }),
    },
    metrics: main.metrics,
    requestLog: main.requestLog,
    consistency: undefined,
    unavailableReason: () => main.unavailableReason(),
  };
}

/** Fails TENANT_UNKNOWN where no member has it, and with what the last one said. */
async function askMembers(
  { tenant, members, calls, waitMs }: ElsewhereOptions,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Reply> {
  // What only nodes and browsers of one server ask, nobody asks in passing.
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
    // Who is not of this machine is not of the next one either, whatever stands between.
    'X-Forwarded-For': [exchange.forwardedFor, exchange.peer()].filter(Boolean).join(', '),
    ...(exchange.forwarded && { Via: '1.1 trellis' }),
    ...(contentType !== '' && { 'Content-Type': contentType }),
    ...(timeoutHeader !== '' && { 'X-Request-Timeout-Ms': timeoutHeader }),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...(traceparent !== '' && { traceparent }),
    ...(consistency !== '' && { 'Trellis-Consistency': consistency }),
    ...(after !== '' && { 'Trellis-After': after }),
  };
}
