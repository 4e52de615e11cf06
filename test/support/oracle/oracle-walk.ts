// Walks of the oracle (extensions.md 2): all edges are looked at for every element, and distances are
// found by relaxing until nothing changes.
import type { Step } from '../../../engine/plan/expression.js';
import { numberOf } from './oracle-argument.js';
import { perItem, type Run } from './oracle-run.js';
import { Item, type OracleElement, type Value } from './oracle-value.js';

type Rows = readonly Value[];
type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;
type Walk = Pick<StepOf<'expand'>, 'direction' | 'edges' | 'condition'>;

const hopMost = 2 ** 32 - 1;

const itemsIn = (rows: Rows): Item[] =>
  rows.filter((row): row is Item => row instanceof Item && row.element.alive);

/** The end of an edge that is not this one; of a loop the same. */
export const farEnd = (edge: OracleElement, from: OracleElement): OracleElement =>
  edge.from === from ? edge.to! : edge.from!;

/** Edges that may be followed from an element, oldest first. */
export function edgesFrom(run: Run, walk: Walk, from: OracleElement): OracleElement[] {
  const { direction, edges, condition } = walk;
  return run.graph.elements
    .filter((edge) => edge.alive && edges.includes(edge.type.name) && edge.type.kind === 'edge')
    .filter(
      (edge) =>
        (direction !== 'in' && edge.from === from) || (direction !== 'out' && edge.to === from),
    )
    .filter((edge) => condition === undefined || passes(run, condition, edge, from));
}

function passes(
  run: Run,
  condition: NonNullable<Walk['condition']>,
  edge: OracleElement,
  origin: OracleElement,
): boolean {
  return perItem(run, condition, reachedFrom(edge, origin)) === true;
}

export const reachedFrom = (edge: OracleElement, origin: OracleElement): Item =>
  new Item(edge, undefined, undefined, false, undefined, { origin });

export function walk(run: Run, step: StepOf<'expand'>, rows: Rows): Item[] {
  const { hops, take } = step;
  if (hops === undefined) {
    return itemsIn(rows).flatMap(({ element }) =>
      edgesFrom(run, step, element).map((edge) =>
        take === 'edge' ? reachedFrom(edge, element) : new Item(farEnd(edge, element)),
      ),
    );
  }
  const most = hops.max === null ? Infinity : numberOf(run.value(hops.max), 'bound', 0, hopMost);
  return itemsIn(rows)
    .filter(({ element }) => element.type.kind !== 'edge')
    .flatMap(({ element }) =>
      [...distances(run, step, element, most)]
        .filter(([, distance]) => distance >= hops.min && distance <= most)
        .sort(([a, i], [b, j]) => i - j || a.id - b.id)
        .map(
          ([found, distance]) =>
            new Item(found, undefined, undefined, false, undefined, { hops: distance }),
        ),
    );
}

function distances(run: Run, step: StepOf<'expand'>, start: OracleElement, most: number) {
  const found = new Map([[start, 0]]);
  for (let hops = 1; hops <= most; hops++) {
    const last = [...found].filter(([, distance]) => distance === hops - 1);
    for (const [element] of last)
      for (const edge of edgesFrom(run, step, element)) {
        const far = farEnd(edge, element);
        if (!found.has(far)) found.set(far, hops);
      }
    if (last.length === 0) break;
  }
  return found;
}

export function otherEnds(rows: Rows): Item[] {
  return itemsIn(rows).flatMap(({ element, trail }) =>
    element.from === undefined ? [] : [new Item(farEnd(element, trail.origin!))],
  );
}

export function fromEnd({ end }: StepOf<'origin'>, rows: Rows): Value[] {
  return rows.map((row) =>
    row instanceof Item ? reachedFrom(row.element, row.element[end]!) : row,
  );
}
