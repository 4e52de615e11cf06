// Short ways to write schemas in tests, and the garden schema that most of them use.
import type {
  EdgeType,
  ElementKind,
  NodeType,
  Property,
  PropertyType,
  ScalarName,
  Schema,
  VectorType,
} from '../../../engine/base/schema.js';

/** `String`, `[F64]`, `[[U8]]`. */
export function typeNamed(text: string): PropertyType {
  if (!text.startsWith('[')) return { kind: 'scalar', name: text as ScalarName };
  return { kind: 'list', of: typeNamed(text.slice(1, -1)) };
}

/** Properties from `{ name: 'unique String' }`. */
export function properties(texts: Record<string, string>): Property[] {
  return Object.entries(texts).map(([name, text]) => {
    const [first, second] = text.split(' ');
    const index = second === undefined ? 'none' : (first as Property['index']);
    return { name, type: typeNamed(second ?? first!), index };
  });
}

export const node = (name: string, texts: Record<string, string> = {}): NodeType => ({
  kind: 'node',
  name,
  properties: properties(texts),
});

export const vector = (name: string, texts: Record<string, string> = {}): VectorType => ({
  kind: 'vector',
  name,
  properties: properties(texts),
});

export const edge = (
  name: string,
  ends: [from: string, to: string],
  texts: Record<string, string> = {},
  unique = false,
): EdgeType => {
  const ref = (end: string) => ({
    kind: (end === 'Note' ? 'vector' : 'node') as ElementKind,
    name: end,
  });
  return {
    kind: 'edge',
    name,
    from: ref(ends[0]),
    to: ref(ends[1]),
    unique,
    properties: properties(texts),
  };
};

export const garden: Schema = {
  version: 1,
  nodes: [
    node('Gardener', { email: 'unique String', city: 'index String', level: 'U8', joined: 'Date' }),
    node('Plant', {
      species: 'index String',
      height: 'index F64',
      tags: '[String]',
      serial: 'unique U64',
    }),
  ],
  edges: [
    edge('Grows', ['Gardener', 'Plant'], { since: 'Date', rating: 'index U8' }),
    edge('Follows', ['Gardener', 'Gardener'], {}, true),
    edge('Tells', ['Plant', 'Note']),
  ],
  vectors: [vector('Note', { text: 'String', lang: 'index String' })],
};
