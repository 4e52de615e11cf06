// Facts about a query besides its types, computed from the plan: whether it may be repeated, whether it
// destroys data, and which parameters page through the result. Also the bounds that steps require of numbers.
import type { Plan, Query } from '../plan/plan.js';
import { eachPart } from '../plan/rewrite.js';

export interface QueryFacts {
  /** True if the query changes or deletes existing data. */
  destroys: boolean;
  /** True if a second call with the same arguments changes nothing more. */
  repeatable: boolean;
  /** True if texts are embedded, possibly by an external provider. */
  embeds: boolean;
  /** The parameters of `RANGE(start, end)`. */
  page?: readonly [start: string, end: string];
}

const destroying = new Set<unknown>(['drop', 'update', 'upsertNode', 'upsertVector', 'upsertEdge']);
const adding = new Set<unknown>(['addNode', 'addVector', 'addVectors', 'addEdge', 'update']);

type ParameterReference = { kind: string; index: number } | null | undefined;

interface RangePart {
  start?: ParameterReference;
  end?: ParameterReference;
}

export function queryFacts({ plan }: Query): QueryFacts {
  let destroys = false;
  let adds = false;
  let page: readonly [string, string] | undefined;
  const nameOf = (part: RangePart['start']): string | undefined =>
    part?.kind === 'parameter' ? plan.parameters[part.index]?.name : undefined;
  eachPart([plan.statements, plan.output], (part) => {
    destroys ||= part.kind === 'drop' || destroying.has(part.kind);
    adds ||= adding.has(part.kind) || part.kind === 'drop';
    if (part.kind !== 'range') return;
    const { start, end } = part as RangePart;
    const [first, last] = [nameOf(start), nameOf(end)];
    if (first !== undefined && last !== undefined) page ??= [first, last];
  });
  return { destroys, repeatable: !adds, embeds: plan.embeds.length > 0, ...(page && { page }) };
}

/** Bound of a number that is passed to a step. `k`: at most the limit of search results. */
export type Bound = 'position' | 'k';

const boundOfMember: Readonly<Record<string, Readonly<Record<string, Bound>>>> = {
  range: { start: 'position', end: 'position' },
  searchVector: { k: 'k' },
  searchAnyVector: { k: 'k' },
  searchWithin: { k: 'k' },
  searchText: { k: 'k' },
  page: { count: 'k' },
};

/** Returns the bounds of the parameters that are passed to steps unchanged. */
export function findBounds({ parameters, statements, output }: Plan): ReadonlyMap<string, Bound> {
  const bounds = new Map<string, Bound>();
  eachPart([statements, output], (part) => {
    for (const [member, bound] of Object.entries(boundOfMember[String(part.kind)] ?? {})) {
      const value = part[member] as ParameterReference;
      const name = value?.kind === 'parameter' ? parameters[value.index]?.name : undefined;
      if (name !== undefined && bounds.get(name) !== 'k') bounds.set(name, bound);
    }
  });
  return bounds;
}
