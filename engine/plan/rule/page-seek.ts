// A page that begins at its position instead of at the first element: ordered by an indexed property,
// where the index has the position's value. Rows then come in the order of its first key, and the page
// ends as soon as it is full: so no condition and no key may fail. Without keys the order is that of the
// ids, in which a type need not stand, as an import may bring ids of its own: the ids of all types are
// kept in order, and those of the type taken from there.
import type { TypeRef } from '../../base/schema.js';
import type { Access, Step } from '../expression.js';
import { isSafe } from '../safe.js';
import type { Planning } from './planning.js';

type Page = Extract<Step, { kind: 'page' }>;

/** The page step that is all there is behind a scan of the type, or behind its condition, seeking. */
export function seekPage(
  planning: Planning,
  type: TypeRef,
  steps: readonly Step[],
  access: Access | undefined,
): Page | undefined {
  const [first, second] = steps;
  const page = first?.kind === 'where' ? second : first;
  if (page?.kind !== 'page' || steps.at(-1) !== page) return undefined;
  const { parameters } = planning;
  if (first?.kind === 'where' && !isSafe(first.condition.value, parameters)) return undefined;
  if (!page.keys.every(({ value }) => isSafe(value, parameters))) return undefined;
  if (page.keys.length === 0) {
    return access === undefined
      ? { ...page, seek: { property: null, descending: false } }
      : undefined;
  }
  const [{ value, descending, nullsFirst }] = page.keys as [Page['keys'][number]];
  const isOwn =
    value.kind === 'property' && value.of.kind === 'slot' && value.of.slot === page.slot;
  const property = isOwn ? planning.declarations.property(type, value.name) : undefined;
  if (property === undefined || property.index === 'none' || nullsFirst) return undefined;
  if (property.type.kind !== 'scalar') return undefined;
  const isBetter = access === undefined || isWithin(access, property.name);
  return isBetter ? { ...page, seek: { property: property.name, descending } } : undefined;
}

/** Bounds of the property itself: the walk passes over what lies outside. */
const isWithin = ({ path }: Access, property: string): boolean =>
  path.kind === 'between' && path.property === property;
