// Compiles a condition that can be evaluated as a semi-join: with a reverse traversal from the other side.
// The condition is evaluated as written; meanwhile the traversal advances in steps, for a fraction of the
// cost of the evaluations. When the traversal is complete, the condition becomes a lookup in its result.
//
// Invariant: the result is that of the condition as written. The traversal costs at most a quarter of the
// evaluations, plus a constant.
import type { IdSet } from '../../base/id-set.js';
import type { Expression } from '../../plan/expression.js';
import { freeSlots } from '../../plan/rule/free-slots.js';
import { incremental, type Walk } from '../access/incremental-traversal.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import { Element, type Value } from '../runtime/value.js';
import { buildWayBack, orPlain } from './access.js';

/** Cost of the evaluations so far, while the slots that the traversal reads are unchanged. */
interface SemiJoinState {
  held: Value[];
  spent: number;
  /** Visits of the traversal so far. */
  walked: number;
  /** Cost of the evaluations at which the traversal advances again. */
  next: number;
  walk: Walk;
  met: IdSet | undefined;
}

/** Visits that are always allowed. */
const leastSpent = 64;

/** Divisor: the traversal may cost this fraction (1/4) of the evaluations. */
const share = 4;

export function buildSemiJoin(
  builder: Builder,
  { of, item: { slot }, path }: Extract<Expression, { kind: 'among' }>,
): Evaluate {
  const plain = builder.value(of);
  const begin = incremental(buildWayBack(builder, path));
  const slots = freeSlots(path.value);
  const known = new WeakMap<Frame, SemiJoinState>();
  const begun = (frame: Frame): SemiJoinState => {
    const held = slots.map((each) => frame.slots[each]!);
    const walk = begin();
    const asked = { held, spent: 0, walked: 0, next: leastSpent, walk, met: undefined };
    known.set(frame, asked);
    return asked;
  };
  return (frame) => {
    const item = frame.slots[slot]!;
    if (!(item instanceof Element) || frame.hasDropped) return plain(frame);
    let asked = known.get(frame);
    if (asked === undefined || !slotsUnchanged(frame, slots, asked.held)) asked = begun(frame);
    if (asked.met !== undefined) {
      frame.tick(1);
      return asked.met.has(item.id);
    }
    const before = frame.visits;
    const answer = plain(frame);
    asked.spent += frame.visits - before;
    if (asked.spent >= asked.next) goOn(frame, asked);
    return answer;
  };
}

function goOn(frame: Frame, asked: SemiJoinState): void {
  const before = frame.visits;
  const { walk } = asked;
  const most = leastSpent + Math.floor(asked.spent / share) - asked.walked;
  const tried = orPlain(() => ({ met: walk.step(frame, most) }));
  asked.walked += frame.visits - before;
  asked.met = tried?.met;
  const wanted = share * (asked.walked + walk.needs - leastSpent);
  asked.next = tried === undefined ? Number.POSITIVE_INFINITY : Math.max(wanted, asked.spent + 16);
}

function slotsUnchanged({ slots: now }: Frame, slots: readonly number[], held: readonly Value[]) {
  for (let i = 0; i < slots.length; i++) if (now[slots[i]!] !== held[i]) return false;
  return true;
}
