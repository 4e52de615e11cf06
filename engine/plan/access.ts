// How a scan finds its rows for less than reading its whole type: chosen by the planner, shown by
// `explain`, followed by the executor. Invariant: an access path never changes which rows come, nor
// their order; whoever ignores it and runs the steps as they stand gets the same answer.
import type { Pipeline, Step } from './expression.js';

/** The steps of a pipeline that its access path leaves. */
export function stepsLeft({ source, steps }: Pipeline): readonly Step[] {
  const access = source.kind === 'scan' ? source.access : undefined;
  if (access === undefined) return steps;
  const { rest, covers } = access;
  const left = steps.slice(covers);
  return rest === undefined ? left : [rest, ...left];
}
