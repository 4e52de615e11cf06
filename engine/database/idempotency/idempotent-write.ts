// A write under a key, done once: its answer is kept in its own transaction, and a repeat is given it.
// The oldest answers go when their time is over, or when there are too many: two at most with each
// that comes, so that no commit is held up and the store shrinks all the same.
//
// Invariant: an answer is kept if and only if what it tells of is committed. A refused request is
// undone with all it kept, so that its repeat is tried anew.
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { ExecutionResult } from '../../exec/runtime/execute.js';
import type { DerivedStore } from '../../storage/table/deferred-work.js';
import {
  type StoredReply,
  type Order,
  answerKey,
  keptAnswer,
  order,
  place,
} from './stored-reply.js';
import { type Once, nameOf, requestOf } from './idempotency-key.js';

export type AnswerLimits = Pick<Limits, 'kept_answers' | 'kept_answer_bytes' | 'kept_answer_time'>;

const goneAtOnce = 2;

/**
 * What `work` answers, or what it answered the first time. Fails IDEMPOTENCY_MISMATCH for a key that
 * stands for another request.
 */
export function runIdempotent(
  store: DerivedStore,
  once: Once,
  body: Uint8Array,
  now: { ms: number; limits: AnswerLimits },
  work: () => ExecutionResult,
): ExecutionResult {
  const name = nameOf(once);
  const request = requestOf(once, body);
  const found = store.getDerived(answerKey.named(name));
  const former = found && keptAnswer.read(found);
  if (former !== undefined && !isOver(former, now)) {
    if (Buffer.compare(former.request, request) !== 0) fail('IDEMPOTENCY_MISMATCH');
    return { body: former.body };
  }
  const result = work();
  const state = order.read(store.getDerived(answerKey.order));
  if (former !== undefined) remove(store, state, name, former);
  keep(store, state, name, { number: state.next, when: now.ms, request, body: result.body });
  for (let i = 0; i < goneAtOnce && state.first < state.next - 1; i++) {
    if (!removeFirst(store, state, now)) break;
  }
  store.putDerived(answerKey.order, order.write(state));
  return result;
}

/**
 * Takes a key for a write that another database does, or gives it back. Fails IDEMPOTENCY_MISMATCH for a key
 * that stands for another request.
 */
export function reserveKey(
  store: DerivedStore,
  once: Once,
  body: Uint8Array,
  now: { ms: number; limits: AnswerLimits },
): ExecutionResult {
  const nothing = { body: new Uint8Array(0) };
  if (once.claim === 'take') return runIdempotent(store, once, body, now, () => nothing);
  const name = nameOf(once);
  const found = store.getDerived(answerKey.named(name));
  const former = found && keptAnswer.read(found);
  if (former === undefined || Buffer.compare(former.request, requestOf(once, body)) !== 0)
    return nothing;
  const state = order.read(store.getDerived(answerKey.order));
  remove(store, state, name, former);
  store.putDerived(answerKey.order, order.write(state));
  return nothing;
}

/** A clock that was set back ends nothing early. */
const isOver = ({ when }: { when: number }, { ms, limits }: { ms: number; limits: AnswerLimits }) =>
  ms - when >= limits.kept_answer_time;

function keep(store: DerivedStore, state: Order, name: Uint8Array, answer: StoredReply): void {
  const bytes = answer.body.length;
  store.putDerived(answerKey.named(name), keptAnswer.write(answer));
  store.putDerived(
    answerKey.numbered(answer.number),
    place.write({ name, when: answer.when, bytes }),
  );
  state.next++;
  state.bytes += bytes;
}

function remove(
  store: DerivedStore,
  state: Order,
  name: Uint8Array,
  { number, body }: { number: number; body: { length: number } },
): void {
  store.deleteDerived(answerKey.named(name));
  store.deleteDerived(answerKey.numbered(number));
  state.bytes -= body.length;
}

/** False when the first is to stay. */
function removeFirst(
  store: DerivedStore,
  state: Order,
  now: { ms: number; limits: AnswerLimits },
): boolean {
  const { kept_answers, kept_answer_bytes } = now.limits;
  const found = store.getDerived(answerKey.numbered(state.first));
  // A number whose answer was replaced after its time leaves a hole.
  if (found !== undefined) {
    const { name, when, bytes } = place.read(found);
    const isMany = state.next - state.first > kept_answers || state.bytes > kept_answer_bytes;
    if (!isMany && !isOver({ when }, now)) return false;
    remove(store, state, name, { number: state.first, body: { length: bytes } });
  }
  state.first++;
  return true;
}
