// Finds where a page, or the first rows of an order, start: the elements after a position, in an index or
// among all ids. With equal keys, the first elements may still be before the position.
import { IdSet } from '../../base/id-set.js';
import { parseUuid } from '../../base/id.js';
import type { Label, StoredProperty } from '../../storage/table/view-types.js';
import { indexKey } from '../runtime/declared-value.js';
import { storedLabel } from '../runtime/element.js';
import type { IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import type { MemberReader } from '../runtime/member.js';
import { Element, isListValue, type Value } from '../runtime/value.js';

/** Set by the page when it opens. */
export interface Seek {
  start: { keys: readonly Value[]; id: string } | undefined;
  /** True if rows come in the order of the page, as far as its first key decides. */
  ordered: boolean;
}

const lowest = new Uint8Array(16);

/**
 * Yields elements of a type in the order of their ids, selected from the ids of all types. If the other types
 * are too numerous, the rest of the type follows unordered.
 */
export function fromId(label: Label, seek: Seek): IdFlow {
  return { kind: 'ids', open: (frame) => idsFrom(frame, label, seek) };
}

function* idsFrom(frame: Frame, label: Label, seek: Seek): Iterable<Uint32Array> {
  const from = seek.start && parseUuid(seek.start.id);
  const walk = frame.view.committed?.byUuid(from ?? lowest);
  const worth = frame.view.count(label.id) / 2;
  const yielded = new IdSet();
  seek.ordered = walk !== undefined;
  let looked = 0;
  for (const ids of walk ?? []) {
    looked += ids.length;
    frame.tick(ids.length);
    const own = ids.filter((id) => storedLabel(frame, id) === label.id);
    frame.reserveMemory(4 * own.length);
    for (let i = 0; i < own.length; i++) yielded.add(own[i]!);
    yield own;
    seek.ordered = looked < worth;
    if (!seek.ordered) break;
  }
  if (seek.ordered) return;
  for (const ids of frame.view.scan(label.id)) {
    frame.tick(ids.length);
    yield ids.filter((id) => !yielded.has(id));
  }
}

export interface IndexOrder {
  label: Label;
  property: StoredProperty;
  descending: boolean;
  /** True if unset values come first. The position is then the beginning. */
  nullsFirst: boolean;
  read: MemberReader;
}

/** Yields elements in the order of an index, from the position's value on, and then the unset ones. */
export function fromKey(order: IndexOrder, seek: Seek): IdFlow {
  return { kind: 'ids', open: (frame) => keysFrom(frame, order, seek) };
}

function* keysFrom(frame: Frame, order: IndexOrder, seek: Seek): Iterable<Uint32Array> {
  const { property, descending, nullsFirst } = order;
  const first = seek.start?.keys[0];
  if (nullsFirst) yield* unsetFirst(frame, order);
  if (first !== null) {
    const key = first === undefined ? undefined : indexKey(frame, property.type, first);
    const isBound = key !== undefined && !isListValue(key);
    const bound = isBound && { [descending ? 'high' : 'low']: { value: key, inclusive: true } };
    for (const ids of frame.view.range(property, { ...bound }, descending)) {
      frame.tick(ids.length);
      yield ids;
    }
  }
  if (!nullsFirst) yield* unset(frame, order, frame.view.scan(order.label.id));
}

function* unset(
  frame: Frame,
  { read }: IndexOrder,
  batches: Iterable<Uint32Array>,
): Iterable<Uint32Array> {
  for (const ids of batches) {
    frame.tick(ids.length);
    const found = ids.filter((id) => read(frame, new Element(id)) === null);
    if (found.length > 0) yield found;
  }
}

/** Number of elements to read to see whether any are unset, before all entries of the index are read. */
const readFirst = 8192;

/** Elements known to be missing in an index, by data version. Kept only while they are few. */
const knownUnset = new WeakMap<StoredProperty, { commits: number; ids: Uint32Array }>();
const fewUnset = 65_536;

/** Yields the elements that an index does not have, oldest first. */
function* unsetFirst(frame: Frame, order: IndexOrder): Iterable<Uint32Array> {
  const { property } = order;
  const commits = frame.view.committed?.commits();
  const known = knownUnset.get(property);
  if (known !== undefined && known.commits === commits) {
    frame.tick(1 + known.ids.length);
    yield known.ids.slice();
    return;
  }
  const found = new IdBuffer();
  for (const ids of findUnset(frame, order)) {
    if (found.length <= fewUnset) found.append(ids);
    yield ids;
  }
  if (commits === undefined || found.length > fewUnset) return;
  knownUnset.set(property, { commits, ids: found.take().slice() });
}

function* findUnset(frame: Frame, order: IndexOrder): Iterable<Uint32Array> {
  const { label, property } = order;
  const total = frame.view.count(label.id);
  let set: IdSet | undefined;
  let looked = 0;
  for (const ids of frame.view.scan(label.id)) {
    if (looked >= readFirst && set === undefined) {
      set = new IdSet();
      for (const known of frame.view.range(property, {})) {
        frame.tick(known.length);
        for (let i = 0; i < known.length; i++) set.add(known[i]!);
      }
      if (set.size === total) return;
    }
    looked += ids.length;
    const known = set;
    if (known === undefined) yield* unset(frame, order, [ids]);
    else {
      frame.tick(ids.length);
      yield ids.filter((id) => !known.has(id));
    }
  }
}
