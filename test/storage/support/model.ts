// A plain model of a store of the garden schema: what the model and crash tests compare with.
// Deliberately naive.
import { expect } from 'vitest';
import { compareValues, type Scalar, type ScalarList } from '../../../engine/base/value.js';
import { decodeProperty, fromOf, labelOf, toOf } from '../../../engine/storage/record/record.js';
import type { Catalog, ReadView } from '../../../engine/storage/table/view-types.js';

export interface ModelElement {
  label: string;
  values: Map<string, Scalar | ScalarList>;
  from?: number;
  to?: number;
  vector?: Float64Array;
}

export class Model {
  readonly elements: Map<number, ModelElement>;

  constructor(elements: Iterable<[number, ModelElement]> = []) {
    this.elements = new Map([...elements].map(([id, element]) => [id, { ...element }]));
  }

  copy(): Model {
    return new Model(this.elements);
  }

  ids(label: string): number[] {
    return [...this.elements].filter(([, e]) => e.label === label).map(([id]) => id);
  }

  edgesOf(id: number): number[] {
    return [...this.elements].filter(([, e]) => e.from === id || e.to === id).map(([edge]) => edge);
  }

  withValue(label: string, property: string, value: Scalar | ScalarList): number[] {
    return this.ids(label).filter((id) => {
      const own = this.elements.get(id)!.values.get(property);
      return own !== undefined && compareValues(own, value) === 0;
    });
  }
}

/** Compares everything a view can say with the model. */
export function expectEqual(view: ReadView, catalog: Catalog, model: Model): void {
  for (const label of catalog.labels()) {
    const ids = [...view.scan(label.id)].flatMap((batch) => [...batch]);
    expect(ids, label.name).toEqual(model.ids(label.name).sort((a, b) => a - b));
    expect(view.count(label.id)).toBe(ids.length);
    for (const id of ids) expectElement(view, catalog, model, id);
    if (label.kind !== 'edge') continue;
    for (const [direction, near, far] of [
      ['out', 'from', 'to'],
      ['in', 'to', 'from'],
    ] as const) {
      for (const id of model.elements.keys()) {
        const edges = ids.filter((edge) => model.elements.get(edge)![near] === id);
        const pairs = edges.flatMap((edge) => [edge, model.elements.get(edge)![far]!]);
        expect([...view.adjacency(id, label.id, direction)]).toEqual(pairs);
        expect(view.degree(id, label.id, direction)).toBe(edges.length);
      }
    }
  }
}

function expectElement(view: ReadView, catalog: Catalog, model: Model, id: number): void {
  const element = model.elements.get(id)!;
  const record = view.record(id)!;
  const label = catalog.label(labelOf(record));
  expect(label.name).toBe(element.label);
  if (label.kind === 'edge')
    expect([fromOf(record), toOf(record)]).toEqual([element.from, element.to]);
  if (label.kind === 'vector') {
    expect(view.vector(id)).toEqual(element.vector);
    expect(view.vectorShared(id)).toEqual(element.vector);
  }
  for (const property of label.properties) {
    const value = element.values.get(property.name) ?? null;
    const stored = decodeProperty(record, property);
    if (value === null) expect(stored).toBeNull();
    else expect(compareValues(stored, value)).toBe(0);
    if (property.indexId === 0 || value === null) continue;
    const found = [...view.lookup(property, value)];
    expect(found).toEqual(model.withValue(label.name, property.name, value).sort((a, b) => a - b));
  }
}
