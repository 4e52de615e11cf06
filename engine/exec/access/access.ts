// Runs scans with an access path: they read the wanted rows instead of the whole type, and yield them in the
// order of the plain steps. If a path does not apply to the values of this execution, or leads to most of the
// type, the plain steps run.
import type { AccessPath } from '../../plan/expression.js';
import type { IdWindow, Label, StoredProperty } from '../../storage/table/view-types.js';
import { indexKey } from '../runtime/declared-value.js';
import { storedLabel } from '../runtime/element.js';
import { asRows, type Flow, type IdFlow, type RowFlow, rowsOf } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { mergedIds } from '../runtime/merge-ids.js';
import { countOf, isInhabited } from '../runtime/collect.js';
import { findElement } from '../runtime/resolve.js';
import { isListValue } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';
import { where } from '../operators/filter.js';
import { slice } from '../operators/slice.js';
import { costModel } from './cost-model.js';
import type { IdLookup } from './id-lookup.js';
import { type FirstRows, firstRows } from './limit-scan.js';

export interface Covered {
  find: IdLookup;
  rest: { slot: number; condition: Evaluate } | undefined;
  /** Fallback: the covered steps as a full scan of the type. */
  plain: Flow;
  /** Measures what the path alone yields. */
  profile?: (flow: IdFlow) => IdFlow;
  /** Set when later steps read a limited number of rows, and the path can only be read as a whole. */
  first?: Pick<FirstRows, 'label' | 'limit' | 'findAll'>;
}

export function access({ find, rest, plain, profile, first }: Covered): RowFlow {
  const otherwise = asRows(plain);
  const rowsAt = (ids: Iterable<Uint32Array>): RowFlow => {
    const bare: IdFlow = { kind: 'ids', open: () => ids };
    const found = profile ? profile(bare) : bare;
    return asRows(rest === undefined ? found : where(found, rest.slot, rest.condition));
  };
  const { from } = find;
  return {
    kind: 'rows',
    open(frame) {
      if (first !== undefined) return firstRows(frame, { ...first, find, rowsAt, otherwise });
      const ids = find(frame, false);
      return (ids === undefined ? otherwise : rowsAt(ids)).open(frame);
    },
    count(frame) {
      const ids = find(frame, true);
      return countOf(ids === undefined ? otherwise : rowsAt(ids), frame);
    },
    inhabited(frame) {
      const ids = find(frame, true);
      return isInhabited(ids === undefined ? otherwise : rowsAt(ids), frame);
    },
    ...(from &&
      rest === undefined && {
        from(frame: Frame, start: number, max: number) {
          const ids = from(frame, start, max);
          const window = () => ({ start, end: start + max });
          return (ids === undefined ? asRows(slice(otherwise, window)) : rowsAt(ids)).open(frame);
        },
      }),
  };
}

/** Sorts the ids and removes duplicates. */
function ascending(ids: Uint32Array): Uint32Array {
  if (ids.length < 2) return ids;
  ids.sort();
  let count = 1;
  for (let i = 1; i < ids.length; i++) if (ids[i] !== ids[i - 1]) ids[count++] = ids[i]!;
  return ids.subarray(0, count);
}

const isAscending = (ids: Uint32Array): boolean => {
  for (let i = 1; i < ids.length; i++) if (ids[i]! <= ids[i - 1]!) return false;
  return true;
};

/** Finds the elements of a label by ids or elements. */
export function findIds(label: Label, value: Evaluate, list: boolean): IdLookup {
  return (frame) => {
    const wanted = value(frame);
    const found = new IdBuffer();
    for (const item of list ? rowsOf(wanted) : [wanted]) {
      frame.tick(1);
      const id = findElement(frame, item);
      if (id !== 0 && storedLabel(frame, id) === label.id) found.push(id);
    }
    return [ascending(found.take())];
  };
}

/**
 * Finds the elements whose property equals a value. An index has no unset values, so null falls back to the
 * plain steps.
 */
export function findEqual(property: StoredProperty, value: Evaluate): IdLookup {
  const found = (frame: Frame, window?: IdWindow) => {
    const wanted = value(frame);
    if (wanted === null) return undefined;
    const key = indexKey(frame, property.type, wanted);
    return key === undefined ? [] : frame.view.lookupBatches(property, key, window);
  };
  const find: IdLookup = (frame) => found(frame);
  find.from = (frame, skip, max) => found(frame, { skip, max });
  return find;
}

/** Finds the elements whose property equals an item of a list. A null item equals nothing here. */
export function findInList(label: Label, property: StoredProperty, value: Evaluate): IdLookup {
  return (frame) => {
    const wanted = value(frame);
    const items = isListValue(wanted) ? rowsOf(wanted) : [wanted];
    const max = Math.max(costModel.minListLookups, frame.view.count(label.id) / 2);
    if (items.length > max) return undefined;
    const found = new IdBuffer();
    const batches: Iterable<Uint32Array>[] = [];
    for (const item of items) {
      frame.tick(1);
      const key = item === null ? undefined : indexKey(frame, property.type, item);
      if (key === undefined) continue;
      // A few values may have many elements each, of which only some may be read.
      if (items.length <= costModel.minListLookups)
        batches.push(frame.view.lookupBatches(property, key));
      else found.append(frame.view.lookup(property, key));
    }
    if (items.length <= costModel.minListLookups) return mergedIds(batches);
    const ids = found.take();
    return [isAscending(ids) ? ids : ascending(ids)];
  };
}

/**
 * Finds the edges of known elements, or the elements at their other ends, oldest first. If a list of elements
 * has more edges than the type has elements, a scan of the type is as fast.
 */
export function findTouching(
  label: Label,
  edge: number,
  { direction, take, list }: Extract<AccessPath, { kind: 'incident' }>,
  value: Evaluate,
): IdLookup {
  const at = take === 'far' ? 1 : 0;
  return (frame) => {
    const wanted = value(frame);
    const found = new IdBuffer();
    const max = list ? frame.view.count(label.id) : Number.POSITIVE_INFINITY;
    for (const item of list ? rowsOf(wanted) : [wanted]) {
      const id = findElement(frame, item);
      frame.tick(1);
      if (id === 0) continue;
      frame.checkAllowance(id, edge, direction);
      const pairs = frame.adjacency(id, edge, direction);
      if (found.length + (pairs.length >>> 1) > max) return undefined;
      for (let i = at; i < pairs.length; i += 2) found.push(pairs[i]!);
      frame.tick(pairs.length >>> 1);
    }
    const ids = found.take();
    return [take === 'far' || list ? ascending(ids) : ids];
  };
}

/** Finds the union of several paths, oldest first. */
export function findAny(finds: readonly IdLookup[]): IdLookup {
  return (frame) => {
    const lists: Iterable<Uint32Array>[] = [];
    for (const find of finds) {
      const batches = find(frame, false);
      if (batches === undefined) return undefined;
      lists.push(batches);
    }
    return mergedIds(lists);
  };
}
