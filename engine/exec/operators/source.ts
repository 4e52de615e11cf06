// Sources of pipelines other than searches: scans, lookups by id and by property, and values.
import { excerpt, fail } from '../../base/errors.js';
import type { PropertyType } from '../../base/schema.js';
import type { Miss } from '../../plan/expression.js';
import { decodeProperty, labelOf } from '../../storage/record/record.js';
import type { IdWindow, Label, StoredProperty } from '../../storage/table/view-types.js';
import { indexKey } from '../runtime/declared-value.js';
import { uuidOf } from '../runtime/element.js';
import { findElement, nameOf } from '../runtime/resolve.js';
import { equal, roundF32 } from '../expression/compare.js';
import { batchesOf, type Flow, type IdFlow, type RowFlow, rowsOf } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { Element, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

/** No rows: a session may name types that a reload has removed. */
export const nothing: Flow = { kind: 'ids', open: () => [], count: () => 0 };

/** Yields all elements of the labels, oldest first. */
export function scan(labels: readonly number[]): IdFlow {
  const [only, more] = labels;
  const isOne = only !== undefined && more === undefined;
  return {
    kind: 'ids',
    open: (frame) => looked(frame, isOne ? frame.view.scan(only) : merged(frame, labels)),
    ...(isOne && {
      from: (frame: Frame, start: number) => looked(frame, frame.view.scan(only, start)),
    }),
    count: (frame) => labels.reduce((sum, label) => sum + frame.view.count(label), 0),
  };
}

function* looked(frame: Frame, batches: Iterable<Uint32Array>): Iterable<Uint32Array> {
  for (const ids of batches) {
    yield ids;
    frame.tick(ids.length);
  }
}

/**
 * Merges ascending ids of several labels batch by batch: up to the smallest last id of the heads, all ids are
 * known.
 */
function* merged(frame: Frame, labels: readonly number[]): Iterable<Uint32Array> {
  const scans = labels.map((label) => frame.view.scan(label)[Symbol.iterator]());
  let heads = scans.map(() => new Uint32Array(0));
  try {
    for (;;) {
      heads = heads.map((head, i) => (head.length > 0 ? head : (scans[i]!.next().value ?? head)));
      const live = heads.filter((head) => head.length > 0);
      if (live.length === 0) return;
      const bound = Math.min(...live.map((head) => head[head.length - 1]!));
      const out = new IdBuffer();
      heads = heads.map((head) => {
        const next = head.findIndex((id) => id > bound);
        const cut = next < 0 ? head.length : next;
        out.append(head.subarray(0, cut));
        return head.subarray(cut);
      });
      yield out.take().sort();
    }
  } finally {
    for (const each of scans) each.return?.();
  }
}

/**
 * Yields the element of one of the labels with this id. If there is none, fails or yields nothing, as `miss`
 * says.
 */
export function byId(labels: readonly Label[], id: Evaluate, miss: Miss): RowFlow {
  const wanted = new Set(labels.map((each) => each.id));
  const what = { name: labels[0]!.name, wanted };
  return { kind: 'rows', open: (frame) => byIdRows(frame, id, miss, what) };
}

function* byIdRows(
  frame: Frame,
  id: Evaluate,
  miss: Miss,
  { name, wanted }: { name: string; wanted: ReadonlySet<number> },
): Iterable<readonly Value[]> {
  const value = id(frame);
  if (value === null && miss === 'error')
    fail('PARAM_MISSING', { owner: name, param: 'id', type: 'ID' });
  const element = new Element(findElement(frame, value));
  frame.tick(1);
  element.record = element.id === 0 ? undefined : frame.readRecord(element.id);
  if (element.record !== undefined && wanted.has(labelOf(element.record))) yield [element];
  else if (miss === 'error') fail('NO_VALUE_FOUND', { what: nameOf(frame, name, value) });
}

export interface PropertyLookup {
  label: Label;
  property: StoredProperty;
  value: Evaluate;
  /** The property is unique, or treated as unique: only the oldest element is returned. */
  first: boolean;
  /** Applies to a unique lookup. Other lookups may find nothing. */
  miss: Miss;
}

/** Yields the elements whose property equals a value, oldest first. Null equals nothing. */
export function lookup(wanted: PropertyLookup): IdFlow {
  const { label, property, value, first } = wanted;
  return {
    kind: 'ids',
    open: (frame) => lookupIds(frame, wanted),
    ...(!first &&
      property.indexId !== 0 && {
        from(frame: Frame, skip: number, max: number) {
          const key = value(frame);
          return key === null ? [] : idsWhere(frame, { label, property }, key, { skip, max });
        },
      }),
  };
}

function* lookupIds(
  frame: Frame,
  { label, property, value, first, miss }: PropertyLookup,
): Iterable<Uint32Array> {
  const wanted = value(frame);
  let found = 0;
  for (const ids of wanted === null ? [] : idsWhere(frame, { label, property }, wanted)) {
    if (ids.length === 0) continue;
    found += ids.length;
    yield first ? ids.subarray(0, 1) : ids;
    if (first) return;
  }
  if (found === 0 && first && miss === 'error') {
    const shown =
      typeof wanted === 'string' ? `"${excerpt(wanted)}"` : excerpt(describe(frame, wanted));
    const what = `${label.name} with ${property.name} ${shown}`;
    fail('NO_VALUE_FOUND', { what });
  }
}

function describe(frame: Frame, value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Element) return uuidOf(frame, value).text;
  return value !== null && typeof value === 'object' ? 'as given' : String(value);
}

/**
 * Reads the index of the property if there is one (if needed, only a window of it), otherwise scans the type.
 */
function* idsWhere(
  frame: Frame,
  { label, property }: Pick<PropertyLookup, 'label' | 'property'>,
  value: Value,
  window?: IdWindow,
): Iterable<Uint32Array> {
  if (property.indexId !== 0) {
    const key = indexKey(frame, property.type, value);
    if (key !== undefined) yield* frame.view.lookupBatches(property, key, window);
    return;
  }
  const isRounded = isF32(property.type);
  const cut = (item: Value): Value => (isRounded ? roundF32(frame, item) : item);
  const wanted = cut(value);
  for (const ids of frame.view.scan(label.id)) {
    frame.tick(ids.length);
    yield ids.filter((id) => {
      const record = frame.expected(frame.view.recordShared(id), id);
      if (record === undefined) return false;
      const stored = decodeProperty(record, property);
      return stored !== null && equal(frame, cut(stored), wanted);
    });
  }
}

function isF32(type: PropertyType): boolean {
  return type.kind === 'list' ? isF32(type.of) : type.name === 'F32';
}

/** Yields the rows of a value. */
export function rowsOfValue(value: Evaluate): RowFlow {
  return { kind: 'rows', open: (frame) => batchesOf(rowsOf(value(frame))) };
}
