// Forwards leader-only requests to the leader, and its response back. The client's own key travels along and
// the leader checks it, so nodes need no secret among themselves. Invariant: a forwarded request is never
// forwarded again. A write that may have been done is neither repeated nor reported as not done.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ClusterLeader,
  type ClusterNode,
  TrellisError,
  fail,
} from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import { jsonHeaders } from '../../http/header-list.js';
import type { ClusterCounts } from '../cluster-counts.js';
import { embedLocally, type Forwarded } from './precomputed-embeddings.js';
import { codeOf, type NodeAnswer, type NodeClient, targetOf } from '../node-client.js';
import type { Endpoint, Reply, Result } from '../../pipeline/router.js';
import { ignoreTimeout } from '../read/read-consistency.js';
import { isOfShard } from '../../pipeline/idempotency-key.js';
import { hasPaused } from '../../pipeline/pause-detector.js';
import { noteShard, parseRemotePositions } from '../read/consistency-token.js';

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Fails QUERY_TIMEOUT if the client hung up while this process was paused (pause-detector.ts). The end of a
 * connection arrives after its request: the event loop reads it in the next turns, if a listener is set. From
 * then on, a client that has ended its side counts as disconnected.
 */
async function checkConnected(exchange: Exchange): Promise<void> {
  await nextTick();
  exchange.allowDisconnect();
  for (let ticks = 0; ticks < 2; ticks++) await nextTick();
  if (exchange.settled) fail('QUERY_TIMEOUT', { ms: 0 });
}

/** Errors of a node that does not belong to the cluster. Such a node forwards nothing. */
const isNone: ReadonlySet<string> = new Set(['NODE_LEFT', 'NODE_NAME_TAKEN']);

/** Milliseconds between two attempts during a leader change. */
const betweenMs = 20;

export interface ForwardOptions {
  node: ClusterNode;
  /**
   * Longest wait in milliseconds for a leader, and for this node to apply what the leader answered.
   */
  waitMs: number;
  calls: NodeClient;
  counts: ClusterCounts;
  /** Maximum bytes of a body that a node accepts. */
  bodyMax: number;
}

/** Returns true if the leader has to answer this request and this node is not the leader. */
export function goesToLeader(node: ClusterNode, exchange: Exchange, endpoint: Endpoint): boolean {
  const isWrite = endpoint.writes && endpoint.query !== undefined && !endpoint.sessionCall;
  if (isOfShard(exchange, endpoint)) return false;
  return (isWrite || endpoint.leaderOnly === true) && !isAnsweredHere(node, exchange);
}

/**
 * Returns true if this node handles a leader-only request: it is the leader, or the request was forwarded to
 * it and is refused here if it is not.
 */
export const isAnsweredHere = (node: ClusterNode, { forwardedProgram }: Exchange): boolean =>
  node.role === 'leader' || forwardedProgram !== '';

/** Returns true if the error says that nothing was done, and that another node may do it. */
const isNobodys = (code: string): boolean => code === 'NO_LEADER' || code === 'NOT_LEADER';

/** Form of the program hash in the header of a forwarded call. */
const programForm = /^[0-9a-f]{16}$/;

/**
 * Checks that a forwarded request was meant for the program of this node. Fails PROGRAM_CHANGED.
 */
export function checkProgram({ program }: ClusterNode, { forwardedProgram }: Exchange): void {
  if (programForm.test(forwardedProgram) && forwardedProgram !== program) fail('PROGRAM_CHANGED');
}

/**
 * Runs a write of the leader, and forwards it if this node loses the lead, so that the client does not
 * notice. Fails as `answer` or `forwardToLeader` does.
 */
export async function answerOrForward(
  options: ForwardOptions,
  exchange: Exchange,
  forwarded: () => Forwarded,
  answer: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await answer();
  } catch (error) {
    const isFinal = exchange.forwardedProgram !== '' || !(error instanceof TrellisError);
    if (isFinal || !isNobodys(error.code)) throw error;
    return forwardToLeader(options, exchange, forwarded());
  }
}

/**
 * Asks the leader, and each later leader, until one responds. Gives up after `waitMs`, or after the request's
 * own timeout. Fails NO_LEADER, NOT_LEADER (the leader cannot be reached), OUTCOME_UNKNOWN or QUERY_TIMEOUT.
 */
export async function forwardToLeader(
  options: ForwardOptions,
  exchange: Exchange,
  { body, target = targetOf(exchange), embed, budgetMs = 0 }: Forwarded,
): Promise<Reply> {
  const { counts, calls, bodyMax } = options;
  if (hasPaused()) await checkConnected(exchange);
  const made = calls.hasProof ? await embedLocally(embed, exchange, budgetMs) : undefined;
  const embeddings = made && body.length + made.length <= bodyMax ? made : undefined;
  try {
    const reply = await callLeader(options, { exchange, body, target, embeddings });
    counts.forwarded(reply.status.startsWith('2') ? 'done' : 'refused');
    return reply;
  } catch (error) {
    const isOpen = error instanceof TrellisError && error.code === 'OUTCOME_UNKNOWN';
    counts.forwarded(isOpen ? 'unknown' : 'unreached');
    throw error;
  }
}

async function callLeader(options: ForwardOptions, target: LeaderCall): Promise<Reply> {
  const { node, waitMs } = options;
  const { exchange } = target;
  const timeoutMs = Math.min(waitMs, leftOf(exchange) ?? waitMs);
  for (const end = performance.now() + timeoutMs; ; await pause(betweenMs)) {
    const left = end - performance.now();
    if (node.fault && isNone.has(node.fault.code)) throw new TrellisError(node.fault);
    const leader = node.leader ?? (await node.waitForLeader(Math.max(0, left)));
    if (leader === undefined)
      throw new TrellisError(node.refusal ?? { code: 'NO_LEADER', args: {} });
    const isLast = left <= betweenMs || exchange.settled;
    const answer = await callNode(options, leader, target);
    if (answer === undefined) {
      if (isLast) fail('NOT_LEADER', { node: leader.node, address: leader.address });
      continue;
    }
    const code = codeOf(answer);
    // This node will have the leader's program shortly.
    if (!isLast && (isNobodys(code) || code === 'PROGRAM_CHANGED')) continue;
    const reply = replyOf(answer, exchange, node);
    // This node usually applies the write within moments. If it does not, the write still stands, and later
    // reads wait for it. The value is read one time, because another thread may change it between two reads.
    const { owed } = node;
    if (owed !== undefined) await node.waitFor(owed, waitMs).catch(ignoreTimeout);
    return reply;
  }
}

/**
 * Forwards one call that another node has to answer. Fails SESSION_ELSEWHERE (the node cannot be reached) or
 * OUTCOME_UNKNOWN.
 */
export async function forwardToNode(
  options: ForwardOptions,
  leader: ClusterLeader,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Reply> {
  const target = targetOf(exchange);
  const { consistency, after } = exchange;
  const asFresh = {
    ...(consistency !== '' && { 'Trellis-Consistency': consistency }),
    ...(after !== '' && { 'Trellis-After': after }),
  };
  const answer = await callNode(options, leader, { exchange, body, target, asFresh });
  if (answer === undefined) return fail('SESSION_ELSEWHERE', { node: leader.node });
  return replyOf(answer, exchange, options.node);
}

interface LeaderCall {
  exchange: Exchange;
  body: Uint8Array;
  /** Path and query string. */
  target: string;
  embeddings?: Uint8Array | undefined;
  /** Headers of a read that say how fresh its response must be. */
  asFresh?: Record<string, string>;
}

/** Sends the request with `NodeClient.forward`. */
function callNode(
  { calls, node }: ForwardOptions,
  { address }: ClusterLeader,
  { exchange, body, target, embeddings, asFresh }: LeaderCall,
): Promise<NodeAnswer | undefined> {
  const headers: Record<string, string> = { ...headersOf(exchange, node), ...asFresh };
  // A rephrased request has another body than the client's and does not repeat it, so it lacks these headers.
  if (target === targetOf(exchange)) {
    if (exchange.contentType !== '') headers['Content-Type'] = exchange.contentType;
    if (exchange.idempotencyKey !== undefined) headers['Idempotency-Key'] = exchange.idempotencyKey;
  }
  return calls.forward(address, { path: target, headers, body, embeddings });
}

/**
 * Returns the response of the other node, and records the position of that node. This node may not have
 * applied that position yet. Fails OUTCOME_UNKNOWN if the response has no readable position.
 */
function replyOf(
  { status, reason, header, body }: NodeAnswer,
  exchange: Exchange,
  node: ClusterNode,
): Reply {
  const positions = parseRemotePositions(header('trellis-position'));
  if (positions === undefined)
    return fail('OUTCOME_UNKNOWN', { ms: Math.round(performance.now() - exchange.startedAt) });
  const { main, shards } = positions;
  exchange.answeredAt = main;
  if (main !== undefined) node.noteAnswered(main);
  for (const [shard, at] of shards) noteShard(exchange, shard, at);
  const retry = header('retry-after');
  const headers = retry === '' ? jsonHeaders : [...jsonHeaders, ['Retry-After', retry] as const];
  return { status: `${status} ${reason}`, headers, body };
}

/**
 * Returns the headers that the receiving node needs to check the request. Fails QUERY_TIMEOUT if no time is
 * left.
 */
function headersOf(exchange: Exchange, { program }: ClusterNode): Record<string, string> {
  const headers: Record<string, string> = {
    ...keyOf(exchange),
    'X-Request-Id': exchange.requestId,
    'Trellis-Passed-On': program,
  };
  const { timeoutHeader } = exchange;
  const left = leftOf(exchange);
  if (left !== undefined) headers['X-Request-Timeout-Ms'] = String(left);
  // An invalid timeout is passed along, so that the receiving node refuses it.
  else if (timeoutHeader !== '') headers['X-Request-Timeout-Ms'] = timeoutHeader;
  if (exchange.traceparent !== '') headers.traceparent = exchange.traceparent;
  return headers;
}

/**
 * Returns the milliseconds left of a request's own timeout, or undefined without one. Fails QUERY_TIMEOUT.
 */
function leftOf({ timeoutHeader, startedAt }: Exchange): number | undefined {
  const ms = Number(timeoutHeader);
  if (!Number.isSafeInteger(ms) || ms <= 0) return undefined;
  const left = Math.floor(ms - (performance.now() - startedAt));
  if (left <= 0) fail('QUERY_TIMEOUT', { ms });
  return left;
}

/** Returns the headers with the request's key and tenant. */
export function keyOf({ apiKey, authorization, tenant }: Exchange): Record<string, string> {
  return {
    ...(apiKey !== '' && { 'X-Api-Key': apiKey }),
    ...(authorization !== '' && { Authorization: authorization }),
    ...(tenant !== '' && { 'Trellis-Tenant': tenant }),
  };
}
