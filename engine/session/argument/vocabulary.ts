// The names that a tool's arguments may use: types by name, and properties by name with every type that has
// them, including implicit members. Built once per schema, never changed.
import type {
  ElementType,
  EdgeType,
  PropertyType,
  ScalarName,
  Schema,
  TypeRef,
} from '../../base/schema.js';
import { excerpt, fail } from '../../base/errors.js';
import { rankedNames } from '../../base/did-you-mean.js';

/** One property name: the types that have it, and its type if it is a member of any item. */
export interface Meaning {
  declared: { type: TypeRef; of: PropertyType }[];
  /**
   * Type of `id`, `label`, and of the `score` and `distance` of hits. A declared property of the same name
   * hides it.
   */
  anywhere?: ScalarName;
}

export interface Vocabulary {
  schema: Schema;
  nodes: ReadonlyMap<string, ElementType>;
  edges: ReadonlyMap<string, EdgeType>;
  vectors: ReadonlyMap<string, ElementType>;
  properties: ReadonlyMap<string, Meaning>;
}

const anywhere: readonly [string, ScalarName][] = [
  ['id', 'ID'],
  ['label', 'String'],
  ['score', 'F64'],
  ['distance', 'F64'],
];
const edgeEnds = ['from_node', 'to_node'];

const byName = <T extends ElementType>(types: readonly T[]): Map<string, T> =>
  new Map(types.map((type) => [type.name, type]));

export function buildVocabulary(schema: Schema): Vocabulary {
  const properties = new Map<string, Meaning>();
  const meaning = (name: string): Meaning => {
    let found = properties.get(name);
    if (found === undefined) properties.set(name, (found = { declared: [] }));
    return found;
  };
  for (const type of [...schema.nodes, ...schema.edges, ...schema.vectors]) {
    const ref: TypeRef = { kind: type.kind, name: type.name };
    for (const { name, type: of } of type.properties)
      meaning(name).declared.push({ type: ref, of });
  }
  for (const name of edgeEnds) {
    const { declared } = meaning(name);
    for (const { name: edge } of schema.edges)
      declared.push({ type: { kind: 'edge', name: edge }, of: { kind: 'scalar', name: 'ID' } });
  }
  for (const [name, type] of anywhere) meaning(name).anywhere = type;
  return {
    schema,
    nodes: byName(schema.nodes),
    edges: byName(schema.edges),
    vectors: byName(schema.vectors),
    properties,
  };
}

/**
 * Returns the meaning of a property name; fails UNKNOWN_PROPERTY if no type has it. `path` points to the name
 * in the body.
 */
export function findMeaning(vocabulary: Vocabulary, name: string, path: string): Meaning {
  const meaning = vocabulary.properties.get(name);
  if (meaning !== undefined) return meaning;
  const hint = knownNames('properties', name, vocabulary.properties.keys());
  fail('UNKNOWN_PROPERTY', { name: excerpt(name) }, { path, hint });
}

/** Fails UNKNOWN_TYPE; `kind` is for example `node` or `node or vector`. */
export function unknownType(
  kind: string,
  name: string,
  known: Iterable<string>,
  path: string,
): never {
  const hint = knownNames(`${kind} types`, name, known);
  fail('UNKNOWN_TYPE', { kind, name: excerpt(name) }, { path, hint });
}

const namesMax = 20;

/** Returns `Known node types: Author, Book.`, the nearest names first, at most 20. */
function knownNames(what: string, name: string, known: Iterable<string>): string {
  const ranked = rankedNames(name, known);
  if (ranked.length === 0) return `The schema has no ${what}.`;
  const names = ranked.slice(0, namesMax).join(', ');
  return `Known ${what}: ${names}${ranked.length > namesMax ? ', …' : ''}.`;
}
