// Looks up a batch of values: for each value of a list, in its order, the elements that have it.
// Invariant: with `nulls`, every value has one row at its position.
import { fail } from '../../base/errors.js';
import type { PropertyType } from '../../base/schema.js';
import { decodeProperty, labelOf } from '../../storage/record/record.js';
import type { Label, StoredProperty } from '../../storage/table/view-types.js';
import { roundF32 } from '../expression/compare.js';
import type { Evaluate } from '../runtime/compiled.js';
import { indexKey } from '../runtime/declared-value.js';
import { batchesOf, type RowFlow, rowsOf } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { keyOf } from '../runtime/key.js';
import { mergedIds } from '../runtime/merge-ids.js';
import { findElement } from '../runtime/resolve.js';
import { Element, type Value } from '../runtime/value.js';

/** Returns the ids of the elements with a value, ascending, in chunks, so that a caller can stop early. */
type Find = (value: Value) => Iterable<Uint32Array>;

/** Prepares the lookups of one label for these values. */
type Finder = (frame: Frame, values: readonly Value[]) => Find;

const none: Iterable<Uint32Array> = [];
const firstRows = 64;
const maxRows = 1024;

/** Looks up elements of the labels by id. */
export function byIds(labels: readonly Label[]): Finder {
  const wanted = new Set(labels.map((label) => label.id));
  return (frame) => (value) => {
    const id = findElement(frame, value);
    const record = id === 0 ? undefined : frame.readRecord(id);
    return record !== undefined && wanted.has(labelOf(record)) ? [Uint32Array.of(id)] : none;
  };
}

/** Looks up elements of one label by a property: in its index, or by one scan of the whole type. */
export function byProperty(label: Label, property: StoredProperty): Finder {
  if (property.indexId === 0) return (frame, values) => scanned(frame, label, property, values);
  return (frame) => (value) => {
    const key = indexKey(frame, property.type, value);
    return key === undefined ? none : frame.view.lookupBatches(property, key);
  };
}

const isSingle = (type: PropertyType): boolean =>
  type.kind === 'list' ? isSingle(type.of) : type.name === 'F32';

function scanned(
  frame: Frame,
  label: Label,
  property: StoredProperty,
  values: readonly Value[],
): Find {
  const isRounded = isSingle(property.type);
  const keyed = (value: Value) => keyOf(frame, isRounded ? roundF32(frame, value) : value);
  const found = new Map<string, IdBuffer>();
  for (const value of values) if (value !== null) found.set(keyed(value), new IdBuffer());
  for (const ids of frame.view.scan(label.id)) {
    frame.tick(ids.length);
    for (const id of ids) {
      const record = frame.expected(frame.view.recordShared(id), id);
      const stored = record === undefined ? null : decodeProperty(record, property);
      if (stored === null) continue;
      found.get(keyed(stored))?.push(id);
    }
  }
  const lists = new Map([...found].map(([key, ids]) => [key, ids.take()]));
  for (const ids of lists.values()) frame.reserveMemory(4 * ids.length);
  return (value) => {
    const ids = lists.get(keyed(value));
    return ids === undefined ? none : [ids];
  };
}

export function batch(finders: readonly Finder[], list: Evaluate, nulls: boolean): RowFlow {
  return { kind: 'rows', open: (frame) => batchRows(frame, finders, list, nulls) };
}

function* batchRows(
  frame: Frame,
  finders: readonly Finder[],
  list: Evaluate,
  nulls: boolean,
): Iterable<readonly Value[]> {
  const listed = list(frame);
  if (listed === null) {
    fail('PARAM_MISSING', { owner: 'A selection', param: 'values', type: 'a list' });
  }
  const values = rowsOf(listed);
  const finds = finders.map((finder) => finder(frame, values));
  let [size, rows]: [number, Value[]] = [firstRows, []];
  for (const part of batchesOf(values)) {
    frame.tick(part.length);
    for (const value of part) {
      let isFound = false;
      for (const ids of value === null ? none : mergedIds(finds.map((find) => find(value)))) {
        isFound ||= ids.length > 0;
        frame.reserveMemory(ids.length * rowBytes);
        frame.tick(ids.length);
        for (const id of ids) rows.push(new Element(id));
        if (rows.length < size) continue;
        yield rows;
        rows = [];
        size = Math.min(4 * size, maxRows);
      }
      if (nulls && !isFound) rows.push(null);
    }
    if (rows.length > 0) yield rows;
    rows = [];
  }
}
