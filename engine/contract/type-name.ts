// Names declared types in one namespace: a type keeps its declared name unless a type of another kind has the
// same name.
// Invariant: the same schema gives the same names.
import type { Schema, TypeRef } from '../base/schema.js';

export class TypeNames {
  readonly #count = new Map<string, number>();

  constructor(schema: Schema) {
    for (const { name } of [...schema.nodes, ...schema.edges, ...schema.vectors]) {
      this.#count.set(name, (this.#count.get(name) ?? 0) + 1);
    }
  }

  of({ kind, name }: TypeRef): string {
    return this.#count.get(name) === 1 ? name : `${name}_${kind}`;
  }
}
