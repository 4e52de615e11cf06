// The store as plain maps: a naive, obviously right WriteView. The executor is tested against it,
// and it is the oracle for the real one. Records are encoded by storage's own encoder; everything
// else is done by looking at all elements.
import { fail } from '../../engine/base/errors.js';
import { printUuid } from '../../engine/base/id.js';
import { type Limits, defaultLimits } from '../../engine/base/limits.js';
import type { ElementKind, ElementType, Schema, TypeRef } from '../../engine/base/schema.js';
import {
  compareValues,
  equalValues,
  type Scalar,
  type ScalarList,
} from '../../engine/base/value.js';
import {
  decodeProperty,
  fromOf,
  labelOf,
  toOf,
  uuidAt,
} from '../../engine/storage/record/record.js';
import { encodeRecord, headOf } from '../../engine/storage/record/record-writer.js';
import type {
  Catalog,
  Direction,
  ElementRemoval,
  IndexBounds,
  Label,
  PropertyValues,
  StoredProperty,
  VectorChange,
  WriteView,
} from '../../engine/storage/table/view-types.js';
import { type DerivedMemory, derivedMemory } from './derived-memory.js';

/** A catalog that numbers the types and indexes of a schema in declaration order. */
export function memoryCatalog(schema: Schema): Catalog {
  const types: ElementType[] = [...schema.nodes, ...schema.edges, ...schema.vectors];
  const idOf = (ref: TypeRef): number =>
    types.findIndex((type) => type.kind === ref.kind && type.name === ref.name) + 1;
  let indexes = 0;
  const labels = types.map((type, i): Label => {
    const properties = type.properties.map((property, slot) => {
      const indexId = property.index === 'none' ? 0 : ++indexes;
      return { ...property, slot, indexId };
    });
    const label: Label = { id: i + 1, kind: type.kind, name: type.name, type, properties };
    if (type.kind === 'edge') return { ...label, from: idOf(type.from), to: idOf(type.to) };
    return label;
  });
  return {
    label: (id) => labels[id - 1]!,
    find: (kind: ElementKind, name) =>
      labels.find((label) => label.kind === kind && label.name === name),
    labels: () => labels,
  };
}

/** The n-th id that a memory view gives out: readable, and rising with creation. */
export function memoryUuid(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

function uuidBytes(n: number): Uint8Array {
  return Buffer.from(memoryUuid(n).replaceAll('-', ''), 'hex');
}

/** How often each method was called: shows what an operator read. */
export type ReadCounts = Record<'record' | 'adjacency' | 'degree' | 'lookup' | 'scanned', number>;

export class MemoryView implements WriteView {
  readonly records = new Map<number, Uint8Array>();
  readonly vectors = new Map<number, Float64Array>();
  readonly pending: VectorChange[] = [];
  readonly unpublished: readonly VectorChange[] = [];
  readonly reads: ReadCounts = { record: 0, adjacency: 0, degree: 0, lookup: 0, scanned: 0 };
  /** Ids per array of a scan. */
  batch = 1000;
  #derived: DerivedMemory = derivedMemory();
  #dimensions = new Map<number, number>();
  #nextId = 1;

  constructor(
    readonly catalog: Catalog,
    readonly limits: Limits = defaultLimits,
  ) {}

  /** An independent copy: what a rolled back request must leave untouched. */
  clone(): MemoryView {
    const copy = new MemoryView(this.catalog, this.limits);
    for (const [id, record] of this.records) copy.records.set(id, record);
    for (const [id, vector] of this.vectors) copy.vectors.set(id, vector);
    for (const [label, dimension] of this.#dimensions) copy.#dimensions.set(label, dimension);
    for (const { key, value } of this.#derived.entries()) copy.#derived.putDerived(key, value);
    copy.pending.push(...this.pending);
    copy.batch = this.batch;
    copy.#nextId = this.#nextId;
    return copy;
  }

  idOf(uuid: Uint8Array): number {
    const wanted = printUuid(uuid);
    for (const [id, record] of this.records)
      if (printUuid(record, uuidAt.own) === wanted) return id;
    return 0;
  }

  record(id: number): Uint8Array | undefined {
    this.reads.record++;
    return this.records.get(id)?.slice();
  }

  /** As short-lived as the real one: the bytes of the call before are overwritten. */
  #shared: Uint8Array = new Uint8Array(0);
  recordShared(id: number): Uint8Array | undefined {
    this.#shared.fill(0xee);
    const record = this.record(id);
    this.#shared = record ?? new Uint8Array(0);
    return record;
  }

  #ids(label: number): number[] {
    return [...this.records]
      .filter(([, record]) => labelOf(record) === label)
      .map(([id]) => id)
      .sort((a, b) => a - b);
  }

  *scan(label: number, skip = 0): Iterable<Uint32Array> {
    const ids = this.#ids(label);
    for (let at = skip; at < ids.length; at += this.batch) {
      const part = ids.slice(at, at + this.batch);
      this.reads.scanned += part.length;
      yield Uint32Array.from(part);
    }
  }

  count(label: number): number {
    return this.#ids(label).length;
  }

  adjacency(id: number, edgeLabel: number, direction: Direction): Uint32Array {
    this.reads.adjacency++;
    return this.#pairs(id, edgeLabel, direction);
  }

  adjacencyAfter(
    id: number,
    edgeLabel: number,
    direction: Direction,
    { after, max }: { after: number; max: number },
  ): Uint32Array {
    const pairs = this.adjacency(id, edgeLabel, direction);
    let first = 0;
    while (first < pairs.length && pairs[first]! <= after) first += 2;
    return pairs.slice(first, first + 2 * max);
  }

  #pairs(id: number, edgeLabel: number, direction: Direction): Uint32Array {
    const pairs: number[] = [];
    for (const edge of this.#ids(edgeLabel)) {
      const record = this.records.get(edge)!;
      const ends = [fromOf(record), toOf(record)];
      const [near, far] = direction === 'out' ? ends : ends.reverse();
      if (near === id) pairs.push(edge, far!);
    }
    return Uint32Array.from(pairs);
  }

  degree(id: number, edgeLabel: number, direction: Direction): number {
    this.reads.degree++;
    return this.#pairs(id, edgeLabel, direction).length / 2;
  }

  lookupBatches(property: StoredProperty, value: Scalar | ScalarList): Iterable<Uint32Array> {
    return [this.lookup(property, value)];
  }

  lookup(property: StoredProperty, value: Scalar | ScalarList): Uint32Array {
    this.reads.lookup++;
    const label = this.catalog.labels().find((each) => each.properties.includes(property))!;
    const found = this.#ids(label.id).filter((id) =>
      equalValues(decodeProperty(this.records.get(id)!, property), value),
    );
    return Uint32Array.from(found);
  }

  *range(
    property: StoredProperty,
    { low, high }: IndexBounds,
    descending = false,
  ): Iterable<Uint32Array> {
    const label = this.catalog.labels().find((each) => each.properties.includes(property))!;
    const entries = this.#ids(label.id)
      .map((id) => ({ id, value: decodeProperty(this.records.get(id)!, property) }))
      .filter(({ value }) => value !== null)
      .filter(({ value }) => {
        const above = low ? compareValues(value, low.value) : 1;
        const below = high ? compareValues(high.value, value) : 1;
        return (
          (low?.inclusive ? above >= 0 : above > 0) && (high?.inclusive ? below >= 0 : below > 0)
        );
      })
      .sort((a, b) => compareValues(a.value, b.value) * (descending ? -1 : 1) || a.id - b.id);
    yield Uint32Array.from(entries, (entry) => entry.id);
  }

  vector(id: number): Float64Array | undefined {
    return this.vectors.get(id)?.slice();
  }

  vectorShared(id: number): Float64Array | undefined {
    return this.vector(id);
  }

  dimension(label: number): number {
    return this.#dimensions.get(label) ?? 0;
  }

  getDerived(key: Uint8Array): Uint8Array | undefined {
    return this.#derived.getDerived(key);
  }

  scanDerived(
    start: Uint8Array,
    end: Uint8Array,
  ): Iterable<{ key: Uint8Array; value: Uint8Array }> {
    return this.#derived.scanDerived(start, end);
  }

  putDerived(key: Uint8Array, value: Uint8Array): void {
    this.#derived.putDerived(key, value);
  }

  deleteDerived(key: Uint8Array): void {
    this.#derived.deleteDerived(key);
  }

  #create(label: Label, values: PropertyValues, ends?: { from: number; to: number }): number {
    const id = this.#nextId++;
    const uuidOf = (end: number) => this.records.get(end)!.slice(uuidAt.own, uuidAt.own + 16);
    const head = {
      label: label.id,
      kind: label.kind,
      uuid: uuidBytes(id),
      ...(ends && { ends: { ...ends, fromUuid: uuidOf(ends.from), toUuid: uuidOf(ends.to) } }),
    };
    this.records.set(id, encodeRecord(head, label.properties, values, this.limits));
    this.#checkUnique(label);
    return id;
  }

  /** No two elements of a label may share a unique value. */
  #checkUnique(label: Label): void {
    for (const property of label.properties.filter((each) => each.index === 'unique')) {
      const values = this.#ids(label.id)
        .map((id) => decodeProperty(this.records.get(id)!, property))
        .filter((value) => value !== null);
      const isRepeated = values.some((value, i) =>
        values.slice(0, i).some((other) => equalValues(value, other)),
      );
      if (isRepeated) fail('UNIQUE_VIOLATION', { type: label.name, property: property.name });
    }
  }

  createNode(label: Label, values: PropertyValues): number {
    return this.#create(label, values);
  }

  endOf(id: number): { label: number; uuid: Uint8Array } | undefined {
    const record = this.recordShared(id);
    return record && { label: labelOf(record), uuid: record.slice(uuidAt.own, uuidAt.own + 16) };
  }

  createEdge(label: Label, from: number, to: number, values: PropertyValues): number {
    const pairs = this.#pairs(from, label.id, 'out');
    const isTaken = pairs.some((far, i) => i % 2 === 1 && far === to);
    if (label.type.kind === 'edge' && label.type.unique && isTaken)
      fail('UNIQUE_VIOLATION', { type: label.name, property: 'From, To' });
    return this.#create(label, values, { from, to });
  }

  #putVector(label: Label, id: number, vector: Float64Array): void {
    const expected = this.dimension(label.id) || vector.length;
    if (vector.length !== expected)
      fail('VECTOR_DIMENSION', { type: label.name, expected, got: vector.length });
    this.#dimensions.set(label.id, expected);
    this.vectors.set(id, vector.slice());
    this.pending.push({ kind: 'put', label: label.id, id, vector: vector.slice() });
  }

  createVector(label: Label, vector: Float64Array, values: PropertyValues): number {
    const id = this.#create(label, values);
    this.#putVector(label, id, vector);
    return id;
  }

  update(changes: readonly { id: number; values: PropertyValues }[]): void {
    const labels = new Set<Label>();
    for (const { id, values } of changes) {
      const former = this.records.get(id)!;
      const label = this.catalog.label(labelOf(former));
      labels.add(label);
      this.records.set(
        id,
        encodeRecord(headOf(former), label.properties, values, this.limits, former),
      );
    }
    for (const label of labels) this.#checkUnique(label);
  }

  replaceVector(id: number, vector: Float64Array): void {
    this.#putVector(this.catalog.label(labelOf(this.records.get(id)!)), id, vector);
  }

  remove(id: number): void {
    const label = this.catalog.label(labelOf(this.records.get(id)!));
    if (this.incident(id).length > 0) throw new RangeError('edges must be removed first');
    if (this.vectors.delete(id)) this.pending.push({ kind: 'delete', label: label.id, id });
    this.records.delete(id);
  }

  removal(): ElementRemoval {
    const added: number[] = [];
    return {
      add: (id) => {
        const record = this.records.get(id);
        if (record === undefined) return undefined;
        added.push(id);
        return this.catalog.label(labelOf(record));
      },
      apply: () => this.removeAll(Uint32Array.from(added).sort()),
    };
  }

  removeAll(ids: Uint32Array): void {
    // Edges are younger than their ends.
    for (const id of ids.toReversed()) this.remove(id);
  }

  incidentCount(id: number): number {
    return this.incident(id).length;
  }

  incident(id: number): Uint32Array {
    const edges = [...this.records]
      .filter(([, record]) => this.catalog.label(labelOf(record)).kind === 'edge')
      .filter(([, record]) => fromOf(record) === id || toOf(record) === id)
      .map(([edge]) => edge);
    return Uint32Array.from(edges).sort();
  }
}
