// Whether a value is among the items of a list. A list that is asked again is kept as a set: of
// dense ids for elements and what names some, of typed keys for everything else.
//
// Invariant: says what comparing with every item would say.
import { parseUuid } from '../../base/id.js';
import { IdSet } from '../../base/id-set.js';
import { Uuid } from '../../base/value.js';
import type { Frame } from '../runtime/frame.js';
import { keyOf } from '../runtime/key.js';
import { Element, type Value } from '../runtime/value.js';

type List = readonly Value[] | Float64Array;

/** Elements of a list by dense id; undefined members are made when they are asked for. */
interface Members {
  ids: IdSet | undefined;
  /** An item is an id that names no element by now: keys tell. */
  hasStray: boolean;
  keys: Set<string> | undefined;
  /** Nothing else is in the list; undefined until it is asked for. */
  areElements?: boolean;
}

/** Up to this length a walk is as quick. */
const shortLength = 16;

const known = new WeakMap<object, Members>();

export const isShort = (list: List): boolean => list.length < shortLength;

/** Whether an item of a long list equals the value, which is not null. */
export function isAmong(frame: Frame, value: Value, list: List): boolean {
  let members = known.get(list);
  if (members === undefined) {
    members = { ids: undefined, hasStray: false, keys: undefined };
    known.set(list, members);
  }
  // After a deletion ids may lead nowhere, and keys still tell.
  if (value instanceof Element && !frame.hasDropped) {
    members.ids ??= idsOf(frame, list, members);
    if (members.ids.has(value.id)) return true;
    if (!members.hasStray) return false;
  }
  members.keys ??= keysOf(frame, list);
  return members.keys.has(keyOf(frame, value));
}

/** The dense ids of a list that holds nothing but elements; undefined for any other. */
export function elementIds(frame: Frame, list: List): IdSet | undefined {
  if (list instanceof Float64Array || frame.hasDropped) return undefined;
  const before = known.get(list);
  if (before?.areElements !== undefined) return before.areElements ? before.ids : undefined;
  const members: Members = before ?? { ids: undefined, hasStray: false, keys: undefined };
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
    if (id === 0) members.hasStray = true;
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
