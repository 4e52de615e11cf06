// Access paths: how a scan finds its rows without reading its whole type. The planner chooses them,
// `explain` prints them, the executor follows them.
// Invariant: an access path changes neither the rows nor their order. An executor that ignores it
// and runs the steps as written returns the same result.
import type { Pipeline, Step } from './expression.js';

/** Returns the steps of a pipeline that its access path does not cover. */
export function stepsLeft({ source, steps }: Pipeline): readonly Step[] {
  const access = source.kind === 'scan' ? source.access : undefined;
  if (access === undefined) return steps;
  const { rest, covers } = access;
  const left = steps.slice(covers);
  return rest === undefined ? left : [rest, ...left];
}
