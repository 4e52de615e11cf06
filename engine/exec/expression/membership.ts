// Tests whether a value is among the items of a list. A list that is tested repeatedly becomes a set: of
// dense ids for elements and for ids of elements, of typed keys for all other values.
//
// Invariant: the result is that of a comparison with every item.
import { parseUuid } from '../../base/id.js';
import { IdSet } from '../../base/id-set.js';
import { Uuid } from '../../base/value.js';
import type { Frame } from '../runtime/frame.js';
import { keyOf } from '../runtime/key.js';
import { Element, type Value } from '../runtime/value.js';

type List = readonly Value[] | Float64Array;

/** Elements of a list by dense id. The other members are computed on demand. */
interface Members {
  ids: IdSet | undefined;
  /** True if an item is an id of no existing element. Then the keys decide. */
  hasMissing: boolean;
  keys: Set<string> | undefined;
  /** True if the list contains nothing but elements. Undefined until it is computed. */
  areElements?: boolean;
}

/** Up to this length, comparing each item is as fast. */
const shortLength = 16;

const known = new WeakMap<object, Members>();

export const isShort = (list: List): boolean => list.length < shortLength;

/** Returns true if an item of a long list equals the value, which is not null. */
export function isInList(frame: Frame, value: Value, list: List): boolean {
  let members = known.get(list);
  if (members === undefined) {
    members = { ids: undefined, hasMissing: false, keys: undefined };
    known.set(list, members);
  }
  // After a deletion, an id may have no element, and only the keys decide.
  if (value instanceof Element && !frame.hasDropped) {
    members.ids ??= idsOf(frame, list, members);
    if (members.ids.has(value.id)) return true;
    if (!members.hasMissing) return false;
  }
  members.keys ??= keysOf(frame, list);
  return members.keys.has(keyOf(frame, value));
}

/** Returns the dense ids of a list that contains only elements. Returns undefined for any other list. */
export function elementIds(frame: Frame, list: List): IdSet | undefined {
  if (list instanceof Float64Array || frame.hasDropped) return undefined;
  const before = known.get(list);
  if (before?.areElements !== undefined) return before.areElements ? before.ids : undefined;
  const members: Members = before ?? { ids: undefined, hasMissing: false, keys: undefined };
  known.set(list, members);
  members.areElements = list.every((item) => item instanceof Element);
  frame.tick(list.length);
  if (!members.areElements) return undefined;
  return (members.ids ??= idsOf(frame, list, members));
}

function idsOf(frame: Frame, list: List, members: Members): IdSet {
  const ids = new IdSet();
  frame.tick(list.length);
  for (let i = 0; i < list.length; i++) {
    const item = list[i]!;
    if (item instanceof Element) ids.add(item.id);
    if (!(item instanceof Uuid)) continue;
    const bytes = parseUuid(item.text);
    const id = bytes === undefined ? 0 : frame.view.idOf(bytes);
    if (id === 0) members.hasMissing = true;
    else ids.add(id);
  }
  return ids;
}

function keysOf(frame: Frame, list: List): Set<string> {
  const keys = new Set<string>();
  frame.tick(list.length);
  for (let i = 0; i < list.length; i++) keys.add(keyOf(frame, list[i]!));
  return keys;
}
