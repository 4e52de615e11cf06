// Reads for the `next` tool: a window of the items from the cursor on, and the plan that finds the first item
// that still exists.
import type { Plan } from '../plan/plan.js';
import { estimateCost, itemsSource, pipeline, sessionPlan } from './session-plan.js';
import { type Items, noItems, type Traversal } from './session.js';

/** Returns a copy of at most `count` items from position `start` on. */
export function copyWindow({ items }: Traversal, start: number, count: number): Items {
  if (items === undefined) return noItems;
  const { ids, scores, hops } = items;
  const end = start + count;
  return {
    ids: ids.slice(start, end),
    ...(scores && { scores: scores.slice(2 * start, 2 * end) }),
    ...(hops && { hops: hops.slice(start, end) }),
  };
}

/**
 * Plans of almost every `next` call, stored because executors cache what they build for a plan. The keys are
 * whether the embedding is requested, and whether floats have a fraction ([compat]).
 */
const nextPlans = [false, true].map((data) =>
  [false, true].map((fractions) => makeNextPlan(1, data, fractions)),
);

/**
 * Returns a plan that reads the first item that still exists among `count` items, and returns it as an item,
 * so that its position can be found.
 */
export function nextPlan(count: number, data: boolean, fractions: boolean): Plan {
  if (count > 1) return makeNextPlan(count, data, fractions);
  return nextPlans[Number(data)]![Number(fractions)]!;
}

function makeNextPlan(count: number, data: boolean, fractions: boolean): Plan {
  const value = pipeline(itemsSource(count), [{ kind: 'first' }]);
  const plan = sessionPlan(
    'next',
    { kind: 'items', value, answer: 'first', data },
    estimateCost(count),
  );
  return fractions ? { ...plan, fractions } : plan;
}
