// Takes what only the leader may do to the node that leads, and its answer back. The client's own key goes with
// it: the leader judges it, and nodes need no secret among themselves. Invariant: nobody passes on what was
// passed on; a write that may have been done is never asked for again, nor called undone.
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
import { embeddedHere, type Forwarded } from './precomputed-embeddings.js';
import { codeOf, type NodeAnswer, type NodeClient, targetOf } from '../node-client.js';
import type { Endpoint, Reply, Result } from '../../pipeline/router.js';
import { keptWaiting } from '../read/read-consistency.js';
import { isOfShard } from '../../pipeline/idempotency-key.js';
import { hasPaused } from '../../pipeline/pause-detector.js';
import { noteShard, parseRemotePositions } from '../read/consistency-token.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Nothing is done for a client that hung up while this process stood still (pause-detector.ts). The end of
 * its connection comes behind its request: the event loop reads it in the turns that follow, once somebody
 * listens for it. From then on a client that has ended its side counts as gone.
 */
async function checkIsThere(exchange: Exchange): Promise<void> {
  await turn();
  exchange.allowDisconnect();
  for (let turns = 0; turns < 2; turns++) await turn();
  if (exchange.settled) fail('QUERY_TIMEOUT', { ms: 0 });
}

/** Faults of a node that is none of the cluster: it asks nobody for anything. */
const isNone: ReadonlySet<string> = new Set(['NODE_LEFT', 'NODE_NAME_TAKEN']);

/** Between two tries, while the lead changes hands. */
const betweenMs = 20;

export interface ForwardOptions {
  node: ClusterNode;
  /** Longest wait for a leader, and for this node to have what the leader answered. */
  waitMs: number;
  calls: NodeClient;
  counts: ClusterCounts;
  /** Longest body that a node takes. */
  bodyMax: number;
}

/** Whether the leader has to answer this request; the leader itself answers all. */
export function goesToLeader(node: ClusterNode, exchange: Exchange, endpoint: Endpoint): boolean {
  const isWrite = endpoint.writes && endpoint.query !== undefined && !endpoint.sessionCall;
  if (isOfShard(exchange, endpoint)) return false;
  return (isWrite || endpoint.leaderOnly === true) && !isAnsweredHere(node, exchange);
}

/** What the leader has to do is done here by the leader, and refused here to who was sent here. */
export const isAnsweredHere = (node: ClusterNode, { passedOn }: Exchange): boolean =>
  node.role === 'leader' || passedOn !== '';

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
 * like the answer, or `forward`.
 */
export async function answerOrForward(
  options: ForwardOptions,
  exchange: Exchange,
  asked: () => Forwarded,
  answer: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await answer();
  } catch (error) {
    const isKept = exchange.passedOn !== '' || !(error instanceof TrellisError);
    if (isKept || !isNobodys(error.code)) throw error;
    return forwardToLeader(options, exchange, asked());
  }
}

/**
 * Asks the leader, and whoever leads after it, until `waitMs` are over, or the request's own time, or one of
 * them has answered. Fails
 * NO_LEADER, NOT_LEADER (the leader cannot be reached), OUTCOME_UNKNOWN, QUERY_TIMEOUT.
 */
export async function forwardToLeader(
  options: ForwardOptions,
  exchange: Exchange,
  { body, target = targetOf(exchange), embed, budgetMs = 0 }: Forwarded,
): Promise<Reply> {
  const { counts, calls, bodyMax } = options;
  if (hasPaused()) await checkIsThere(exchange);
  const made = calls.vouches ? await embeddedHere(embed, exchange, budgetMs) : undefined;
  const embeddings = made && body.length + made.length <= bodyMax ? made : undefined;
  try {
    const reply = await askLeader(options, { exchange, body, target, embeddings });
    counts.forwarded(reply.status.startsWith('2') ? 'done' : 'refused');
    return reply;
  } catch (error) {
    const isOpen = error instanceof TrellisError && error.code === 'OUTCOME_UNKNOWN';
    counts.forwarded(isOpen ? 'unknown' : 'unreached');
    throw error;
  }
}

async function askLeader(options: ForwardOptions, asked: Asked): Promise<Reply> {
  const { node, waitMs } = options;
  const { exchange } = asked;
  const patience = Math.min(waitMs, leftOf(exchange) ?? waitMs);
  for (const end = performance.now() + patience; ; await pause(betweenMs)) {
    const left = end - performance.now();
    if (node.fault && isNone.has(node.fault.code)) throw new TrellisError(node.fault);
    const leader = node.leader ?? (await node.waitForLeader(Math.max(0, left)));
    if (leader === undefined)
      throw new TrellisError(node.refusal ?? { code: 'NO_LEADER', args: {} });
    const isLast = left <= betweenMs || exchange.settled;
    const answer = await askNode(options, leader, asked);
    if (answer === undefined) {
      if (isLast) fail('NOT_LEADER', { node: leader.node, address: leader.address });
      continue;
    }
    const code = codeOf(answer);
    // This node has the leader's program in a moment.
    if (!isLast && (isNobodys(code) || code === 'PROGRAM_CHANGED')) continue;
    const reply = replyOf(answer, exchange, node);
    // Most of the time it is here in a moment; where it is not, the write is done all the same, and reads wait for it.
    // Read a single time: another thread moves this value, and may do so between two reads.
    const { owed } = node;
    if (owed !== undefined) await node.waitFor(owed, waitMs).catch(keptWaiting);
    return reply;
  }
}

/** One call that another node has to answer. Fails SESSION_ELSEWHERE (it cannot be reached), OUTCOME_UNKNOWN. */
export async function forwardToNode(
  options: ForwardOptions,
  place: ClusterLeader,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Reply> {
  const target = targetOf(exchange);
  const { consistency, after } = exchange;
  const asFresh = {
    ...(consistency !== '' && { 'Trellis-Consistency': consistency }),
    ...(after !== '' && { 'Trellis-After': after }),
  };
  const answer = await askNode(options, place, { exchange, body, target, asFresh });
  if (answer === undefined) return fail('SESSION_ELSEWHERE', { node: place.node });
  return replyOf(answer, exchange, options.node);
}

interface Asked {
  exchange: Exchange;
  body: Uint8Array;
  /** Path and query. */
  target: string;
  embeddings?: Uint8Array | undefined;
  /** Headers of a read: how fresh its answer must be. */
  asFresh?: Record<string, string>;
}

/** As NodeClient.forward. */
function askNode(
  { calls, node }: ForwardOptions,
  { address }: ClusterLeader,
  { exchange, body, target, embeddings, asFresh }: Asked,
): Promise<NodeAnswer | undefined> {
  const headers: Record<string, string> = { ...headersOf(exchange, node), ...asFresh };
  // What is asked in other words than the client's has none of its own form, and is no repeat of it.
  if (target === targetOf(exchange)) {
    if (exchange.contentType !== '') headers['Content-Type'] = exchange.contentType;
    if (exchange.idempotencyKey !== undefined) headers['Idempotency-Key'] = exchange.idempotencyKey;
  }
  return calls.forward(address, { path: target, headers, body, embeddings });
}

/**
 * Returns the response of the other node, with the position of that node. This node may be behind it. Fails
 * OUTCOME_UNKNOWN if the response has no readable position.
 */
function replyOf(
  { status, reason, header, body }: NodeAnswer,
  exchange: Exchange,
  node: ClusterNode,
): Reply {
  const told = parseRemotePositions(header('trellis-position'));
  if (told === undefined)
    return fail('OUTCOME_UNKNOWN', { ms: Math.round(performance.now() - exchange.startedAt) });
  const { main, shards } = told;
  exchange.answeredAt = main;
  if (main !== undefined) node.noteAnswered(main);
  for (const [shard, at] of shards) noteShard(exchange, shard, at);
  const retry = header('retry-after');
  const headers = retry === '' ? jsonHeaders : [...jsonHeaders, ['Retry-After', retry] as const];
  return { status: `${status} ${reason}`, headers, body };
}

/** What of a request's head its next judge needs. Fails QUERY_TIMEOUT where no time is left. */
function headersOf(exchange: Exchange, { program }: ClusterNode): Record<string, string> {
  const headers: Record<string, string> = {
    ...keyOf(exchange),
    'X-Request-Id': exchange.requestId,
    'Trellis-Passed-On': program,
  };
  const { timeoutHeader } = exchange;
  const left = leftOf(exchange);
  if (left !== undefined) headers['X-Request-Timeout-Ms'] = String(left);
  // What is no time, its judge shall refuse.
  else if (timeoutHeader !== '') headers['X-Request-Timeout-Ms'] = timeoutHeader;
  if (exchange.traceparent !== '') headers.traceparent = exchange.traceparent;
  return headers;
}

/** Milliseconds of the time that a request gives its answer; undefined: it says none. Fails QUERY_TIMEOUT. */
function leftOf({ timeoutHeader, startedAt }: Exchange): number | undefined {
  const ms = Number(timeoutHeader);
  if (!Number.isSafeInteger(ms) || ms <= 0) return undefined;
  const left = Math.floor(ms - (performance.now() - startedAt));
  if (left <= 0) fail('QUERY_TIMEOUT', { ms });
  return left;
}

/** The key that a request came with, and whose database it is about. */
export function keyOf({ apiKey, authorization, tenant }: Exchange): Record<string, string> {
  return {
    ...(apiKey !== '' && { 'X-Api-Key': apiKey }),
    ...(authorization !== '' && { Authorization: authorization }),
    ...(tenant !== '' && { 'Trellis-Tenant': tenant }),
  };
}
