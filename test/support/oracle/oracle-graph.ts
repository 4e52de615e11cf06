// The store of the oracle: one array of elements in order of creation, searched from end to end for
// everything. A request that fails is undone by putting back what was.
import { fail } from '../../../engine/base/errors.js';
import {
  type ElementType,
  type Schema,
  type TypeRef,
  findType,
  typesOf,
} from '../../../engine/base/schema.js';
import { equal } from './oracle-compare.js';
import type { OracleElement, Value } from './oracle-value.js';

interface Saved {
  length: number;
  states: Pick<OracleElement, 'values' | 'vector' | 'alive'>[];
  dimensions: Map<string, number>;
}

/** Ids of elements that the engine has not named yet: they come after all it has. */
const newUuid = (id: number): string => `ffffffff-0000-7000-8000-${String(id).padStart(12, '0')}`;

export class OracleGraph {
  readonly elements: OracleElement[] = [];
  dimensions = new Map<string, number>();

  constructor(readonly schema: Schema) {}

  type(ref: TypeRef): ElementType {
    return findType(this.schema, ref)!;
  }

  /** Existing elements, oldest first. */
  all(...types: readonly TypeRef[]): OracleElement[] {
    return this.elements.filter(
      ({ alive, type }) =>
        alive && types.some((ref) => ref.kind === type.kind && ref.name === type.name),
    );
  }

  find(uuid: string): OracleElement | undefined {
    return this.elements.find((element) => element.alive && element.uuid === uuid);
  }

  /** Edges of these labels at one end of an element, oldest first. */
  edges(element: OracleElement, labels: readonly string[], near: 'from' | 'to'): OracleElement[] {
    return this.elements.filter(
      (edge) => edge.alive && labels.includes(edge.type.name) && edge[near] === element,
    );
  }

  create(
    type: ElementType,
    values: ReadonlyMap<string, Value>,
    rest: Pick<OracleElement, 'from' | 'to' | 'vector'> = {},
  ): OracleElement {
    const id = this.elements.length;
    const element = { id, uuid: newUuid(id), type, values, alive: true, ...rest };
    this.elements.push(element);
    this.checkUnique(type);
    return element;
  }

  /** No two elements of a type share a unique value. */
  checkUnique(type: ElementType): void {
    for (const { name, index } of type.properties) {
      if (index !== 'unique') continue;
      const values = this.all(type)
        .map((element) => element.values.get(name) ?? null)
        .filter((value) => value !== null);
      const isTwice = values.some((value, i) => values.findIndex((v) => equal(v, value)) < i);
      if (isTwice) fail('UNIQUE_VIOLATION', { type: type.name, property: name });
    }
  }

  /** The first vector of a type decides the dimension of all. */
  checkDimension(type: string, vector: readonly number[], fix: boolean): void {
    const expected = this.dimensions.get(type);
    if (expected === undefined && fix) this.dimensions.set(type, vector.length);
    if (expected !== undefined && expected !== vector.length)
      fail('VECTOR_DIMENSION', { type, expected, got: vector.length });
  }

  remove(element: OracleElement): void {
    element.alive = false;
    for (const edge of this.elements)
      if (edge.from === element || edge.to === element) edge.alive = false;
  }

  save(): Saved {
    const states = this.elements.map(({ values, vector, alive }) => ({
      values,
      alive,
      ...(vector && { vector }),
    }));
    return { length: states.length, states, dimensions: new Map(this.dimensions) };
  }

  restore({ length, states, dimensions }: Saved): void {
    this.elements.length = length;
    for (const [i, state] of states.entries()) Object.assign(this.elements[i]!, state);
    this.dimensions = dimensions;
  }
}

export function typeNamed(graph: OracleGraph, kind: TypeRef['kind'], name: string): ElementType {
  return typesOf(graph.schema, kind).find((type) => type.name === name)!;
}
