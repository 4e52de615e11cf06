// Takes a write to the node that leads, and its answer back. The client's own key goes with it: the leader
// judges it, and nodes need no secret among themselves. Invariant: nobody passes on what was passed on;
// a write that may have been done is never asked for again, nor called undone.
import { setTimeout as pause } from 'node:timers/promises';
import { type ClusterLeader, type ClusterNode, TrellisError, fail } from '../../engine/index.js';
import type { Exchange } from '../http/exchange.js';
import { jsonHeaders } from '../http/header-list.js';
import { codeOf, type NodeAnswer, type NodeCalls } from './node-call.js';
import type { Endpoint, Reply, Result } from './routes.js';
import { parsePosition } from './position.js';

/** Between two tries, while the lead changes hands. */
const betweenMs = 20;

export interface ForwardOptions {
  node: ClusterNode;
  /** Longest wait for a leader, and for this node to have what the leader answered. */
  waitMs: number;
  calls: NodeCalls;
}

/** Whether the leader has to answer this request; the leader itself answers all. */
export function goesToLeader(node: ClusterNode, exchange: Exchange, endpoint: Endpoint): boolean {
  const isWrite = endpoint.writes && endpoint.query !== undefined && !endpoint.ofSession;
  return isWrite && node.role !== 'leader' && exchange.passedOn === '';
}

/** Whether a refusal says that nothing was done, and that another node may do it, now or soon. */
const isNobodys = (code: string): boolean => code === 'NO_LEADER' || code === 'NOT_LEADER';

/** As a call that was passed on names it. */
const programForm = /^[0-9a-f]{16}$/;

/** What was passed on was meant for the program of whoever did. Fails PROGRAM_CHANGED. */
export function checkProgram({ program }: ClusterNode, { passedOn }: Exchange): void {
  if (programForm.test(passedOn) && passedOn !== program) fail('PROGRAM_CHANGED');
}

/**
 * A write of the leader's own, which goes where the lead goes: a client hears nothing of a hand-over. Fails
 * like the answer, or `passOn`.
 */
export async function heldThrough(
  options: ForwardOptions,
  exchange: Exchange,
  body: Uint8Array,
  answer: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof TrellisError) || !isNobodys(error.code)) throw error;
    return passOn(options, exchange, body);
  }
}

/**
 * Asks the leader, and whoever leads after it, until `waitMs` are over or one of them has answered. Fails
 * NO_LEADER, NOT_LEADER (the leader cannot be reached), OUTCOME_UNKNOWN, QUERY_TIMEOUT.
 */
export async function passOn(
  options: ForwardOptions,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Reply> {
  const { node, waitMs } = options;
  for (const end = performance.now() + waitMs; ; await pause(betweenMs)) {
    const left = end - performance.now();
    const leader = node.leader ?? (await node.whenLed(Math.max(0, left)));
    if (leader === undefined)
      throw new TrellisError(node.refusal ?? { code: 'NO_LEADER', args: {} });
    const isLast = left <= betweenMs || exchange.settled;
    const answer = await askLeader(options, leader, exchange, body);
    if (answer === undefined) {
      if (isLast) fail('NOT_LEADER', { node: leader.node, address: leader.address });
      continue;
    }
    const code = codeOf(answer);
    // This node has the leader's program in a moment.
    if (!isLast && (isNobodys(code) || code === 'PROGRAM_CHANGED')) continue;
    const position = parsePosition(answer.header('trellis-position'));
    // What its client reads here next is not older than what it has written.
    if (position !== undefined) await node.waitFor(position.seq, waitMs).catch(() => undefined);
    return { status: `${answer.status} ${answer.reason}`, headers: jsonHeaders, body: answer.body };
  }
}

/** One call that another node has to answer. Fails SESSION_ELSEWHERE (it cannot be reached), OUTCOME_UNKNOWN. */
export async function sendOn(
  options: ForwardOptions,
  place: ClusterLeader,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Reply> {
  const answer = await askLeader(options, place, exchange, body);
  if (answer === undefined) return fail('SESSION_ELSEWHERE', { node: place.node });
  return { status: `${answer.status} ${answer.reason}`, headers: jsonHeaders, body: answer.body };
}

/** As NodeCalls.passOn. */
const askLeader = (
  { calls, node }: ForwardOptions,
  { address }: ClusterLeader,
  exchange: Exchange,
  body: Uint8Array,
): Promise<NodeAnswer | undefined> =>
  calls.passOn(address, exchange.path, headersOf(exchange, node), body);

/** What of a request's head its next judge needs. Fails QUERY_TIMEOUT where no time is left. */
function headersOf(exchange: Exchange, { program }: ClusterNode): Record<string, string> {
  const headers: Record<string, string> = {
    ...keyOf(exchange),
    'X-Request-Id': exchange.requestId,
    'Trellis-Passed-On': program,
  };
  if (exchange.timeoutHeader !== '') headers['X-Request-Timeout-Ms'] = leftOf(exchange);
  if (exchange.idempotencyKey !== undefined) headers['Idempotency-Key'] = exchange.idempotencyKey;
  if (exchange.traceparent !== '') headers.traceparent = exchange.traceparent;
  return headers;
}

/** Of the time that a request gives its answer. What is no time, its judge shall refuse. */
function leftOf({ timeoutHeader, startedAt }: Exchange): string {
  const ms = Number(timeoutHeader);
  if (!Number.isSafeInteger(ms) || ms <= 0) return timeoutHeader;
  const left = Math.floor(ms - (performance.now() - startedAt));
  if (left <= 0) fail('QUERY_TIMEOUT', { ms });
  return String(left);
}

/** The key that a request came with, and whose database it is about. */
export function keyOf({ apiKey, authorization, tenant }: Exchange): Record<string, string> {
  return {
    ...(apiKey !== '' && { 'X-Api-Key': apiKey }),
    ...(authorization !== '' && { Authorization: authorization }),
    ...(tenant !== '' && { 'Trellis-Tenant': tenant }),
  };
}
