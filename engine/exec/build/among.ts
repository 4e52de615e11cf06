// Compiles a condition that has a way back from what it asks for: asked as it is written until that has cost
// eight times what the way back may, then a look into what the way back has met.
//
// Invariant: the answer of the condition as it is written. All attempts at the way back together cost a sixth of
// what was asked before them.
import { IdSet } from '../../base/id-set.js';
import type { Expression } from '../../plan/expression.js';
import { slotsOf } from '../../plan/rule/slots.js';
import { readingOf, reached } from '../access/reached.js';
import type { Builder } from '../row/builder.js';
import type { Evaluate } from '../row/compiled.js';
import type { Frame } from '../row/frame.js';
import { Element, type Value } from '../row/value.js';
import { buildWayBack, orPlain } from './access.js';

/** What asking has cost so far, while the slots that the way back reads held the same. */
interface Asked {
  held: Value[];
  spent: number;
  /** At so much the way back is tried. */
  next: number;
  met: IdSet | undefined;
}

/** Visits that are not worth a thought. */
const leastSpent = 64;

export function buildAmong(
  builder: Builder,
  { of, item: { slot }, path }: Extract<Expression, { kind: 'among' }>,
): Evaluate {
  const plain = builder.value(of);
  const way = buildWayBack(builder, path);
  const reach = reached(way);
  const slots = slotsOf(path.value);
  const known = new WeakMap<Frame, Asked>();
  const begun = (frame: Frame): Asked => {
    const held = slots.map((each) => frame.slots[each]!);
    const asked = { held, spent: 0, next: leastSpent, met: undefined };
    known.set(frame, asked);
    return asked;
  };
  const attempt = (frame: Frame, visits: number): IdSet | undefined => {
    if (way.reads !== undefined && readingOf(frame, way.reads) > visits) return undefined;
    return frame.attempt(visits, () => {
      const met = new IdSet();
      for (const id of reach(frame)) met.add(id);
      frame.charge(4 * met.size);
      return met;
    });
  };
  return (frame) => {
    const item = frame.slots[slot]!;
    if (!(item instanceof Element) || frame.hasDropped) return plain(frame);
    let asked = known.get(frame);
    if (asked === undefined || !isAsHeld(frame, slots, asked.held)) asked = begun(frame);
    if (asked.met !== undefined) {
      frame.tick(1);
      return asked.met.has(item.id);
    }
    const before = frame.visits;
    const answer = plain(frame);
    asked.spent += frame.visits - before;
    if (asked.spent >= asked.next) {
      const tried = orPlain(() => ({ met: attempt(frame, asked.spent >> 3) }));
      asked.next = tried === undefined ? Number.POSITIVE_INFINITY : 4 * asked.spent;
      asked.met = tried?.met;
    }
    return answer;
  };
}

function isAsHeld({ slots: now }: Frame, slots: readonly number[], held: readonly Value[]) {
  for (let i = 0; i < slots.length; i++) if (now[slots[i]!] !== held[i]) return false;
  return true;
}
