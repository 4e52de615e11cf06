// Compiles a condition that can be evaluated as a semi-join: with a reverse traversal from the other side.
// The condition is evaluated as written; meanwhile the traversal advances in steps, for a fraction of the
// cost of the evaluations. When the traversal is complete, the condition becomes a lookup in its result.
//
// Invariant: the result is that of the condition as written. The traversal costs at most a quarter of the
// evaluations, plus a constant.
import type { IdSet } from '../../base/id-set.js';
import type { Expression } from '../../plan/expression.js';
import { freeSlots } from '../../plan/rule/free-slots.js';
import { costModel } from '../access/cost-model.js';
import { incremental, type Traversal } from '../access/incremental-traversal.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import { Element, type Value } from '../runtime/value.js';
import { buildReverseTraversal, orPlain } from './access.js';

/** Cost of the evaluations so far, while the slots that the traversal reads are unchanged. */
interface SemiJoinState {
  held: Value[];
  spent: number;
  /** Visits of the traversal so far. */
  traversed: number;
  /** Cost of the evaluations at which the traversal advances again. */
  next: number;
  walk: Traversal;
  met: IdSet | undefined;
}

const { semiJoinVisits, semiJoinShare } = costModel;

export function buildSemiJoin(
  builder: Builder,
  { of, item: { slot }, path }: Extract<Expression, { kind: 'semiJoin' }>,
): Evaluate {
  const plain = builder.value(of);
  const begin = incremental(buildReverseTraversal(builder, path));
  const slots = freeSlots(path.value);
  const known = new WeakMap<Frame, SemiJoinState>();
  const begun = (frame: Frame): SemiJoinState => {
    const held = slots.map((each) => frame.slots[each]!);
    const walk = begin();
    const state = { held, spent: 0, traversed: 0, next: semiJoinVisits, walk, met: undefined };
    known.set(frame, state);
    return state;
  };
  return (frame) => {
    const item = frame.slots[slot]!;
    if (!(item instanceof Element) || frame.hasDropped) return plain(frame);
    let state = known.get(frame);
    if (state === undefined || !frame.slotsEqual(slots, state.held)) state = begun(frame);
    if (state.met !== undefined) {
      frame.tick(1);
      return state.met.has(item.id);
    }
    const before = frame.visits;
    const answer = plain(frame);
    state.spent += frame.visits - before;
    if (state.spent >= state.next) advanceTraversal(frame, state);
    return answer;
  };
}

function advanceTraversal(frame: Frame, state: SemiJoinState): void {
  const before = frame.visits;
  const { walk } = state;
  const max = semiJoinVisits + Math.floor(state.spent / semiJoinShare) - state.traversed;
  const tried = orPlain(() => ({ met: walk.step(frame, max) }));
  state.traversed += frame.visits - before;
  state.met = tried?.met;
  const wanted = semiJoinShare * (state.traversed + walk.needs - semiJoinVisits);
  state.next = tried === undefined ? Number.POSITIVE_INFINITY : Math.max(wanted, state.spent + 16);
}
