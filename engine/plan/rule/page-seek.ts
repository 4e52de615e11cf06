// Starts a slice at its position instead of at the first element. Applies to a page or the first
// rows of an ORDER by an indexed property: reading starts where the index has the value of the
// position. Rows then arrive in the order of the first key and the reader stops early, so no
// condition and no key may fail. A page without keys is in the order of ids. A type need not be
// stored in this order, because an import may set ids, so the ordered ids of all types are read and
// filtered by type. A condition that an index decides is tried first; if it leads to few rows,
// those are sorted.
import type { Property, TypeRef } from '../../base/schema.js';
import type { Access, AccessPath, Step } from '../expression.js';
import { cannotThrow } from '../can-throw.js';
import { failsOnFirstRow } from './conjuncts.js';
import type { Planning } from './planner-context.js';

type Sort = Extract<Step, { kind: 'page' | 'order' }>;

/**
 * Returns the steps after a scan of the type. A page or order that is the first or second of them reads by
 * position.
 */
export function seeking(
  planning: Planning,
  type: TypeRef,
  steps: readonly Step[],
  access: Access | undefined,
): Step[] | undefined {
  const at = steps[0]?.kind === 'where' ? 1 : 0;
  const [first, sort] = [steps[0], steps[at]];
  const { parameters } = planning;
  const test = first?.kind === 'where' ? first.condition : undefined;
  if (test && !failsOnFirstRow(test.value, test.slot, parameters)) return undefined;
  if (sort?.kind !== 'page' && sort?.kind !== 'order') return undefined;
  if (!sort.keys.every(({ value }) => cannotThrow(value, parameters))) return undefined;
  const seek =
    sort.kind === 'page' && steps.length > at + 1
      ? undefined
      : buildSeek(planning, type, sort, access);
  return seek && [...steps.slice(0, at), { ...sort, seek }, ...steps.slice(at + 1)];
}

function buildSeek(
  planning: Planning,
  type: TypeRef,
  sort: Sort,
  access: Access | undefined,
): Sort['seek'] {
  const path = access?.path;
  const [key] = sort.keys;
  if (key === undefined) {
    const seek = { property: null, descending: false };
    return path === undefined ? seek : isLong(path) ? { ...seek, alternative: path } : undefined;
  }
  const property = sortedBy(planning, type, sort);
  if (property === undefined) return undefined;
  const seek = { property: property.name, descending: key.descending };
  if (sort.kind === 'order') {
    if (!sort.top) return undefined;
    if (path === undefined) return key.nullsFirst ? seek : undefined;
    return isLong(path) ? { ...seek, alternative: path } : undefined;
  }
  if (key.nullsFirst) return undefined;
  // Bounds on the property itself: the scan skips what lies outside.
  if (path === undefined || (path.kind === 'between' && path.property === property.name))
    return seek;
  return isLong(path) ? { ...seek, alternative: path } : undefined;
}

/** Returns true if the path may lead to more rows than are sorted in one batch. */
const isLong = (path: AccessPath): boolean =>
  path.kind === 'between' ||
  path.kind === 'reverse' ||
  path.kind === 'shortest' ||
  path.kind === 'any' ||
  (path.kind === 'equal' && !path.unique);

/**
 * Returns the steps with a page of edges, in the order of their ids, that starts in the adjacency
 * lists of an element. A condition in between is then tested on fewer edges, so it must not fail.
 */
export function seekingInList(
  { parameters }: Planning,
  steps: readonly Step[],
): Step[] | undefined {
  const page = steps.at(-1);
  if (page?.kind !== 'page' || page.keys.length > 0) return undefined;
  const at = steps.findLastIndex(({ kind }) => kind === 'edges');
  const edges = steps[at];
  if (edges?.kind !== 'edges' || edges.turn) return undefined;
  const mayEndEarly = steps.slice(at + 1, -1).every((step) => {
    if (step.kind === 'dedup') return step.by === undefined;
    if (step.kind !== 'where') return false;
    const { value, slot } = step.condition;
    return failsOnFirstRow(value, slot, parameters);
  });
  if (!mayEndEarly) return undefined;
  const seek = { property: null, descending: false, list: true } as const;
  return [...steps.slice(0, -1), { ...page, seek }];
}

/** Returns the indexed property of the first key. */
function sortedBy(
  { declarations }: Planning,
  type: TypeRef,
  { slot, keys }: Sort,
): Property | undefined {
  const { value } = keys[0]!;
  const isOwn = value.kind === 'property' && value.of.kind === 'slot' && value.of.slot === slot;
  const property = isOwn ? declarations.property(type, value.name) : undefined;
  const isIndexed = property !== undefined && property.index !== 'none';
  return isIndexed && property.type.kind === 'scalar' ? property : undefined;
}
