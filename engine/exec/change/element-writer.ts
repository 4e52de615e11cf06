// Changes elements: creation with defaults, update, deletion with edges. It also updates the keyword
// documents of nodes and vectors. Storage handles uniqueness and index entries; this file converts values and
// resolves endpoints.
import { fail, TrellisError } from '../../base/errors.js';
import { defaultAt } from '../../base/schema.js';
import { checkIntegrity } from '../../base/integrity.js';
import { type DocumentText, sameTexts } from '../../base/text/document-text.js';
import { parseUuid } from '../../base/id.js';
import { type Scalar, type ScalarList, Uuid } from '../../base/value.js';
import { distinct } from '../../base/u32-array.js';
import type { Assignment } from '../../plan/expression.js';
import { collectTexts, textProperties, textsOf } from '../../storage/record/text-document.js';
import { decodeProperty, labelOf } from '../../storage/record/record.js';
import type { Label, StoredProperty } from '../../storage/table/view-types.js';
import type { TextRemoval } from '../../text/text-index-types.js';
import type { Builder } from '../runtime/build-context.js';
import { convert } from '../runtime/declared-value.js';
import { nameOf, resolveElement } from '../runtime/resolve.js';
import type { Frame } from '../runtime/frame.js';
import { refreshed } from '../runtime/bound-element.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { Element, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

type Values = Map<string, Scalar | ScalarList>;

/** A compiled assignment. */
export interface Assign {
  property: string;
  /** Returns the property on a label. Looked up once per label, because a stream may have several types. */
  on: (label: Label) => StoredProperty | undefined;
  value: Evaluate;
  unset: boolean;
}

export function buildAssignments(builder: Builder, set: readonly Assignment[]): Assign[] {
  return set.map(({ property, value, unset }) => ({
    property,
    on: propertyTable(property),
    value: builder.value(value),
    unset,
  }));
}

function propertyTable(name: string): Assign['on'] {
  const known: (StoredProperty | null | undefined)[] = [];
  return (label) => {
    const found = (known[label.id] ??= label.properties.find((one) => one.name === name) ?? null);
    return found ?? undefined;
  };
}

/**
 * Applies assignments to values: null is skipped, a literal NONE unsets. Adds the names of affected
 * properties to `changed`.
 */
function assign(
  frame: Frame,
  label: Label,
  set: readonly Assign[],
  values: Values,
  touched?: Set<string>,
): void {
  for (const { property: name, on, unset, value: evaluate } of set) {
    const value = unset ? null : evaluate(frame);
    const property = on(label);
    if (property === undefined || (value === null && !unset)) continue;
    touched?.add(name);
    if (unset) values.delete(name);
    else values.set(name, convert(frame, name, property.type, value));
  }
}

const noValues: Values = new Map();

const hasNoDefault = (property: StoredProperty): boolean => property.default === undefined;

/**
 * Returns the values of a new element, which must not be changed: the assigned ones, and the defaults of all
 * other properties.
 */
function newValues(frame: Frame, label: Label, set: readonly Assign[]): Values {
  const { properties } = label;
  if (properties.length === 0 && set.length === 0) return noValues;
  const values: Values = new Map();
  if (properties.every(hasNoDefault)) {
    assign(frame, label, set, values);
    return values;
  }
  const touched = new Set<string>();
  assign(frame, label, set, values, touched);
  for (const { name, type, default: defaultValue } of properties) {
    if (defaultValue === undefined || touched.has(name)) continue;
    const value = defaultAt(defaultValue, type, frame.context.now);
    if (value !== null) values.set(name, convert(frame, name, type, value));
  }
  return values;
}

/** Returns the values of a record. Properties that cannot be read are added to `damaged`. */
function valuesOf(record: Uint8Array, label: Label, damaged: StoredProperty[]): Values {
  const values: Values = new Map();
  for (const property of label.properties) {
    try {
      const value = decodeProperty(record, property);
      if (value !== null) values.set(property.name, value);
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      damaged.push(property);
    }
  }
  return values;
}

/** Returns the texts of an element from its new values. */
const textsIn = (label: Label, values: Values): DocumentText[] =>
  collectTexts(label, ({ name }) => values.get(name));

function addDocument(frame: Frame, label: Label, id: number, values: Values): void {
  const texts = frame.context.text ? textsIn(label, values) : [];
  if (texts.length > 0) frame.context.text!.add(frame.write, label.id, id, texts);
}

export function createNode(frame: Frame, label: Label, set: readonly Assign[]): Element {
  frame.countWrites(1);
  const values = newValues(frame, label, set);
  const id = frame.write.createNode(label, values);
  addDocument(frame, label, id, values);
  return new Element(id);
}

export function createVector(
  frame: Frame,
  label: Label,
  vector: Float64Array,
  set: readonly Assign[],
): Element {
  frame.countWrites(1);
  const values = newValues(frame, label, set);
  const id = frame.write.createVector(label, vector, values);
  addDocument(frame, label, id, values);
  const element = new Element(id);
  element.fresh = true;
  return element;
}

export function createEdge(
  frame: Frame,
  label: Label,
  from: number,
  to: number,
  set: readonly Assign[],
): Element {
  frame.countWrites(1);
  return new Element(frame.write.createEdge(label, from, to, newValues(frame, label, set)));
}

/**
 * Returns the dense id of an endpoint of an edge. Fails 404 when there is no such element, EDGE_ENDPOINT_TYPE
 * when its type does not fit the edge. Remembers the last endpoint, because many consecutive edges may have
 * the same one.
 */
export function resolveEnd(frame: Frame, edge: Label, end: 'from' | 'to', value: Value): number {
  const last = frame.lastEnds?.[end];
  if (last?.value === value && last.edge === edge && !frame.hasDropped) return last.id;
  const id = findEnd(frame, edge, end, value);
  if (typeof value === 'object') (frame.lastEnds ??= {})[end] = { value, edge, id };
  return id;
}

function findEnd(frame: Frame, edge: Label, end: 'from' | 'to', value: Value): number {
  const { catalog } = frame.view;
  const wanted = catalog.label(edge[end]!);
  const uuid = value instanceof Uuid ? parseUuid(value.text) : undefined;
  const id = (uuid && frame.view.idOf(uuid)) || resolveElement(frame, value, wanted.name);
  const named = uuid && { label: wanted.id, uuid };
  const label = frame.expected(frame.write.endOf(id, named), id)?.label;
  if (label === undefined) fail('NO_VALUE_FOUND', { what: nameOf(frame, wanted.name, value) });
  if (label !== wanted.id) {
    const [from, to] = [catalog.label(edge.from!).name, catalog.label(edge.to!).name];
    fail('EDGE_ENDPOINT_TYPE', { edge: edge.name, from, to, got: catalog.label(label).name });
  }
  return id;
}

interface Change {
  id: number;
  label: Label;
  before: Values;
  after: Values;
}

/**
 * Returns the change that assignments make to a stored element. The assignments see the element in `slot`,
 * with the search attributes of its row. Returns undefined when the element no longer exists.
 */
function changeOf(
  frame: Frame,
  row: Element,
  slot: number,
  set: readonly Assign[],
): Change | undefined {
  const { id } = row;
  const current = refreshed(row);
  current.record = frame.readRecord(id);
  if (current.record === undefined) return undefined;
  const label = frame.view.catalog.label(labelOf(current.record));
  const damaged: StoredProperty[] = [];
  const before = valuesOf(current.record, label, damaged);
  const after: Values = new Map(before);
  frame.slots[slot] = current;
  if (damaged.length === 0) assign(frame, label, set, after);
  else assignOver(frame, label, set, after, { record: current.record, damaged });
  return { id, label, before, after };
}

/**
 * A damaged property may be overwritten, which repairs it. If it is not overwritten, the update fails
 * DATA_CORRUPT.
 */
function assignOver(
  frame: Frame,
  label: Label,
  set: readonly Assign[],
  values: Values,
  { record, damaged }: { record: Uint8Array; damaged: readonly StoredProperty[] },
): void {
  const touched = new Set<string>();
  assign(frame, label, set, values, touched);
  for (const property of damaged) if (!touched.has(property.name)) decodeProperty(record, property);
}

/**
 * Updates distinct existing elements in one step: all values are computed from the state before. Elements
 * that no longer exist are missing in the result.
 */
export function updateElements(
  frame: Frame,
  rows: Iterable<Element>,
  slot: number,
  set: readonly Assign[],
): Set<number> {
  const changes: Change[] = [];
  for (const row of rows) {
    const change = changeOf(frame, row, slot, set);
    if (change === undefined) continue;
    frame.countWrites(1);
    frame.reserveMemory(change.after.size * 2 * 64);
    changes.push(change);
  }
  if (changes.length > 0)
    frame.write.update(changes.map(({ id, after }) => ({ id, values: after })));
  for (const { id, label, before, after } of changes) {
    const [former, next] = [textsIn(label, before), textsIn(label, after)];
    if (sameTexts(former, next)) continue;
    frame.context.text?.replace(frame.write, label.id, id, former, next);
  }
  return new Set(changes.map((change) => change.id));
}

/**
 * Deletes elements, and the edges of nodes and vectors. Ids of missing elements are ignored. A deletion with
 * too many edges is refused by the degrees alone. Returns the number of deleted elements.
 *
 */
export function dropElements(frame: Frame, ids: readonly number[]): number {
  const { write } = frame;
  frame.hasDropped = true;
  const tick = (count: number): void => frame.tick(count);
  const removal = write.removal(tick);
  const documents = new IdBuffer();
  const hubs = new IdBuffer();
  const edges = new IdBuffer();
  let ends = 0;
  let found = 0;
  for (const id of distinct(Uint32Array.from(ids))) {
    const label = removal.add(id);
    if (label === undefined) continue;
    found++;
    frame.countWrites(1);
    if (label.kind === 'edge') {
      edges.push(id);
      frame.expectDrops(edges.length);
      continue;
    }
    if (textProperties(label).length > 0) documents.push(id);
    const degree = write.incidentCount(id, label.id);
    if (degree === 0) continue;
    hubs.push(id);
    // Both endpoints of an edge may be among the elements.
    ends += degree;
    frame.expectWrites(Math.ceil(ends / 2));
    frame.expectDrops(Math.ceil(ends / 2));
  }
  frame.reserveMemory(4 * ends);
  const named = edges.take();
  for (const id of hubs.take()) edges.append(write.incident(id));
  const others = without(distinct(edges.take()), named);
  frame.countWrites(others.length);
  frame.countDrops(named.length + others.length);
  for (const edge of others) {
    checkIntegrity(removal.add(edge), `edge ${edge} is missing`);
  }
  const texts = documentsOf(frame, documents.take());
  removal.apply();
  texts?.finish(write, tick);
  return found;
}

/** Returns the ids that are not among `others`. Both ascend. */
function without(ids: Uint32Array, others: Uint32Array): Uint32Array {
  if (others.length === 0) return ids;
  let at = 0;
  return ids.filter((id) => {
    while (at < others.length && others[at]! < id) at++;
    return others[at] !== id;
  });
}

/** Returns the keyword documents of elements (ascending ids) that are about to be deleted. */
function documentsOf(frame: Frame, ids: Uint32Array): TextRemoval | undefined {
  const { catalog } = frame.view;
  const removal = ids.length > 0 ? frame.context.text?.removal() : undefined;
  if (removal === undefined) return undefined;
  for (const id of ids) {
    const record = frame.write.recordShared(id)!;
    const label = catalog.label(labelOf(record));
    const texts = textsOf(label, record);
    if (texts.length === 0) continue;
    frame.tick(1);
    frame.reserveMemory(removal.add(label.id, id, texts));
  }
  return removal;
}
