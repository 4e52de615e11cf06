// What the words in a tool's arguments may mean: types by name, and properties by name with every type that has them,
// implicit members included. Made once per schema, never changed.
import type {
  ElementKind,
  ElementType,
  EdgeType,
  PropertyType,
  ScalarName,
  Schema,
  TypeRef,
} from '../base/schema.js';
import { excerpt, fail } from '../base/errors.js';
import { knownNames } from './nearest.js';

/** One property name: who has it, and whether the items of a search have it besides. */
export interface Meaning {
  declared: { type: TypeRef; of: PropertyType }[];
  /** `score` and `distance`. */
  attribute: boolean;
}

export interface Vocabulary {
  schema: Schema;
  nodes: ReadonlyMap<string, ElementType>;
  edges: ReadonlyMap<string, EdgeType>;
  vectors: ReadonlyMap<string, ElementType>;
  properties: ReadonlyMap<string, Meaning>;
}

const scalar = (name: ScalarName): PropertyType => ({ kind: 'scalar', name });

function implicitOf(kind: ElementKind): [string, PropertyType][] {
  const common: [string, PropertyType][] = [
    ['id', scalar('ID')],
    ['label', scalar('String')],
  ];
  if (kind === 'edge') common.push(['from_node', scalar('ID')], ['to_node', scalar('ID')]);
  return common;
}

const byName = <T extends ElementType>(types: readonly T[]): Map<string, T> =>
  new Map(types.map((type) => [type.name, type]));

export function vocabularyOf(schema: Schema): Vocabulary {
  const properties = new Map<string, Meaning>();
  const meaning = (name: string): Meaning => {
    let found = properties.get(name);
    if (found === undefined) properties.set(name, (found = { declared: [], attribute: false }));
    return found;
  };
  for (const type of [...schema.nodes, ...schema.edges, ...schema.vectors]) {
    const ref: TypeRef = { kind: type.kind, name: type.name };
    for (const { name, type: of } of type.properties)
      meaning(name).declared.push({ type: ref, of });
    for (const [name, of] of implicitOf(type.kind)) meaning(name).declared.push({ type: ref, of });
  }
  for (const [name] of implicitOf('edge')) meaning(name);
  for (const name of ['score', 'distance']) meaning(name).attribute = true;
  return {
    schema,
    nodes: byName(schema.nodes),
    edges: byName(schema.edges),
    vectors: byName(schema.vectors),
    properties,
  };
}

/** The property's meaning; UNKNOWN_PROPERTY when no type has the name. `path` points to it in the body. */
export function meaningOf(vocabulary: Vocabulary, name: string, path: string): Meaning {
  const meaning = vocabulary.properties.get(name);
  if (meaning !== undefined) return meaning;
  const hint = knownNames('properties', name, vocabulary.properties.keys());
  fail('UNKNOWN_PROPERTY', { name: excerpt(name) }, { path, hint });
}

/** UNKNOWN_TYPE; `kind` reads like `node` or `node or vector`. */
export function unknownType(
  kind: string,
  name: string,
  known: Iterable<string>,
  path: string,
): never {
  const hint = knownNames(`${kind} types`, name, known);
  fail('UNKNOWN_TYPE', { kind, name: excerpt(name) }, { path, hint });
}
