// What callers ask about a query besides its types: whether repeating it does harm, whether it
// destroys, and which of its parameters page through the answer. Read off the plan.
import type { Query } from '../plan/plan.js';
import { eachPart } from '../plan/rewrite.js';

export interface QueryFacts {
  /** Changes or deletes what is there. */
  destroys: boolean;
  /** A second call with the same arguments changes nothing more. */
  repeatable: boolean;
  /** Has texts embedded, perhaps by a provider elsewhere. */
  embeds: boolean;
  /** The parameters of `RANGE(start, end)`. */
  page?: readonly [start: string, end: string];
}

const destroying = new Set<unknown>(['drop', 'update', 'upsertNode', 'upsertVector', 'upsertEdge']);
const adding = new Set<unknown>(['addNode', 'addVector', 'addVectors', 'addEdge', 'update']);

interface RangePart {
  start?: { kind: string; index: number } | null;
  end?: { kind: string; index: number } | null;
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
