// Runs a write with an idempotency key once: the reply is stored in the same transaction, and a repetition
// gets the stored reply. The oldest replies are deleted when they expire or when there are too many. Each new
// reply deletes at most two, so that no commit is delayed and the store still shrinks.
//
// Invariant: a reply is stored if and only if its write is committed. A failed request is undone together
// with its stored reply, so that a repetition runs again.
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { ExecutionResult } from '../../exec/runtime/execute.js';
import type { DerivedStore } from '../../storage/table/deferred-work.js';
import {
  type StoredReply,
  type ReplyQueue,
  answerKey,
  storedReply,
  replyQueue,
  replyEntry,
} from './stored-reply.js';
import { type IdempotencyKey, nameOf, requestOf } from './idempotency-key.js';

export type ReplyLimits = Pick<
  Limits,
  'idempotency_keys' | 'idempotency_bytes' | 'idempotency_ttl'
>;

const expiredPerWrite = 2;

/**
 * Returns the result of `work`, or the stored reply of the first run. Fails IDEMPOTENCY_MISMATCH for a key of
 * another request.
 */
export function runIdempotent(
  store: DerivedStore,
  key: IdempotencyKey,
  body: Uint8Array,
  now: { ms: number; limits: ReplyLimits },
  work: () => ExecutionResult,
): ExecutionResult {
  const name = nameOf(key);
  const request = requestOf(key, body);
  const found = store.getDerived(answerKey.named(name));
  const former = found && storedReply.read(found);
  if (former !== undefined && !isOver(former, now)) {
    if (Buffer.compare(former.request, request) !== 0) fail('IDEMPOTENCY_MISMATCH');
    return { body: former.body };
  }
  const result = work();
  const state = replyQueue.read(store.getDerived(answerKey.order));
  if (former !== undefined) remove(store, state, name, former);
  storeReply(store, state, name, { number: state.next, when: now.ms, request, body: result.body });
  for (let i = 0; i < expiredPerWrite && state.first < state.next - 1; i++) {
    if (!removeFirst(store, state, now)) break;
  }
  store.putDerived(answerKey.order, replyQueue.write(state));
  return result;
}

/**
 * Reserves a key for a write that another database does, or releases it. Fails IDEMPOTENCY_MISMATCH for a key
 * of another request.
 */
export function reserveKey(
  store: DerivedStore,
  key: IdempotencyKey,
  body: Uint8Array,
  now: { ms: number; limits: ReplyLimits },
): ExecutionResult {
  const nothing = { body: new Uint8Array(0) };
  if (key.claim === 'take') return runIdempotent(store, key, body, now, () => nothing);
  const name = nameOf(key);
  const found = store.getDerived(answerKey.named(name));
  const former = found && storedReply.read(found);
  if (former === undefined || Buffer.compare(former.request, requestOf(key, body)) !== 0)
    return nothing;
  const state = replyQueue.read(store.getDerived(answerKey.order));
  remove(store, state, name, former);
  store.putDerived(answerKey.order, replyQueue.write(state));
  return nothing;
}

/** When the clock was set back, no reply expires early. */
const isOver = ({ when }: { when: number }, { ms, limits }: { ms: number; limits: ReplyLimits }) =>
  ms - when >= limits.idempotency_ttl;

function storeReply(
  store: DerivedStore,
  state: ReplyQueue,
  name: Uint8Array,
  answer: StoredReply,
): void {
  const bytes = answer.body.length;
  store.putDerived(answerKey.named(name), storedReply.write(answer));
  store.putDerived(
    answerKey.numbered(answer.number),
    replyEntry.write({ name, when: answer.when, bytes }),
  );
  state.next++;
  state.bytes += bytes;
}

function remove(
  store: DerivedStore,
  state: ReplyQueue,
  name: Uint8Array,
  { number, body }: { number: number; body: { length: number } },
): void {
  store.deleteDerived(answerKey.named(name));
  store.deleteDerived(answerKey.numbered(number));
  state.bytes -= body.length;
}

/** Deletes the oldest reply. Returns false when it must stay. */
function removeFirst(
  store: DerivedStore,
  state: ReplyQueue,
  now: { ms: number; limits: ReplyLimits },
): boolean {
  const { idempotency_keys, idempotency_bytes } = now.limits;
  const found = store.getDerived(answerKey.numbered(state.first));
  // When an expired reply was replaced, its old number has no reply.
  if (found !== undefined) {
    const { name, when, bytes } = replyEntry.read(found);
    const isMany = state.next - state.first > idempotency_keys || state.bytes > idempotency_bytes;
    if (!isMany && !isOver({ when }, now)) return false;
    remove(store, state, name, { number: state.first, body: { length: bytes } });
  }
  state.first++;
  return true;
}
