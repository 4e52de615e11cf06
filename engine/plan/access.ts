// How a scan finds its rows for less than reading its whole type: chosen by the planner, shown by
// `explain`, followed by the executor. Invariant: an access path never changes which rows come, nor
// their order; whoever ignores it and runs the steps as they stand gets the same answer.
import type { Expression, Pipeline } from './expression.js';
import type { Direction, Step } from './step.js';

/** A bound of an index range. A bound that is null at run time lets nothing through. */
export interface Bound {
  value: Expression;
  inclusive: boolean;
}

export type AccessPath =
  /** By id; `list`: by every id of a list. */
  | { kind: 'id'; value: Expression; list: boolean }
  /** The index of a property under a value, or (`list`) under every value of a list. */
  | { kind: 'equal'; property: string; value: Expression; list: boolean; unique: boolean }
  /** The index of a property between bounds, brought back into creation order. */
  | { kind: 'between'; property: string; low?: Bound; high?: Bound }
  /** The index of a property in its own order, unset values last: stands for an ORDER too. */
  | { kind: 'ordered'; property: string; descending: boolean; low?: Bound; high?: Bound }
  /**
   * The edges of one type at a known element, or the elements at their other ends. `direction` as
   * seen from that element.
   */
  | {
      kind: 'touching';
      edge: string;
      direction: Direction;
      take: 'edge' | 'far';
      value: Expression;
    }
  /** Whatever one of several paths leads to, in creation order. */
  | { kind: 'any'; of: AccessPath[] };

export interface Access {
  path: AccessPath;
  /** What the covered steps ask for beyond the path. */
  rest?: Extract<Step, { kind: 'where' }>;
  /** The number of steps right behind the source that path and rest stand for. */
  covers: 1 | 2;
}

/** The steps of a pipeline that its access path leaves. */
export function stepsLeft({ source, steps }: Pipeline): readonly Step[] {
  const access = source.kind === 'scan' ? source.access : undefined;
  if (access === undefined) return steps;
  const { rest, covers } = access;
  const left = steps.slice(covers);
  return rest === undefined ? left : [rest, ...left];
}
