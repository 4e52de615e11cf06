// Where a page, or the first rows of an order, begin: the elements behind a position, found in an index or
// among all ids. What comes first may still lie before the position, of equal keys.
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

/** Filled by the page when it is opened. */
export interface Seek {
  start: { keys: readonly Value[]; id: string } | undefined;
  /** Rows come in the order of the page, as far as its first key goes. */
  ordered: boolean;
}

const lowest = new Uint8Array(16);

/**
 * Elements of a type in the order of their ids, taken from those of all types. Where these are too
 * many others, the rest of the type comes as it stands.
 */
export function fromId(label: Label, seek: Seek): IdFlow {
  return { kind: 'ids', open: (frame) => idsFrom(frame, label, seek) };
}

function* idsFrom(frame: Frame, label: Label, seek: Seek): Iterable<Uint32Array> {
  const from = seek.start && parseUuid(seek.start.id);
  const walk = frame.view.byUuid?.(from ?? lowest);
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
  /** Unset ones come first; the position is the beginning then. */
  nullsFirst: boolean;
  read: MemberReader;
}

/** Elements in the order of an index, from the position's value on; behind them the unset ones. */
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

/** So many are read to see whether some are unset, before the index is asked which are set. */
const readFirst = 8192;

/** What an index was found not to have, by the state of the data; as long as they are few. */
const knownUnset = new WeakMap<StoredProperty, { commits: number; ids: Uint32Array }>();
const fewUnset = 65_536;

/** The elements that an index does not have, oldest first. */
function* unsetFirst(frame: Frame, order: IndexOrder): Iterable<Uint32Array> {
  const { property } = order;
  const commits = frame.view.commits?.();
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
  knownUnset.set(property, { commits, ids: found.take() });
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
