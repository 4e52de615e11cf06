// Index of the schema for the checker: types by kind and name, properties by name, implicit members.
import {
  type ElementKind,
  type ElementType,
  type Property,
  type Schema,
  type TypeRef,
  typesOf,
} from '../../base/schema.js';
import { isInteger, unify } from './type-relation.js';
import { typeOfParameter } from './parameter-type.js';
import { type ItemType, scalarType, unknownType } from './type.js';

export interface SchemaIndex {
  schema: Schema;
  find(kind: ElementKind, name: string): ElementType | undefined;
  names(kind: ElementKind): string[];
  property(type: TypeRef, name: string): Property | undefined;
}

export function indexSchema(schema: Schema): SchemaIndex {
  const kinds = ['node', 'edge', 'vector'] as const;
  const types = new Map<string, ElementType>();
  const properties = new Map<string, Property>();
  for (const kind of kinds) {
    for (const type of typesOf(schema, kind)) {
      types.set(`${kind} ${type.name}`, type);
      for (const p of type.properties) properties.set(`${kind} ${type.name} ${p.name}`, p);
    }
  }
  return {
    schema,
    find: (kind, name) => types.get(`${kind} ${name}`),
    names: (kind) => typesOf(schema, kind).map((type) => type.name),
    property: (type, name) => properties.get(`${type.kind} ${type.name} ${name}`),
  };
}

const vectorData: ItemType = { kind: 'list', of: scalarType('F64') };

/** Returns the type of an implicit member of elements of one kind, or undefined. */
function implicitType(kind: ElementKind, name: string): ItemType | undefined {
  switch (name) {
    case 'id':
    case 'ID':
      return scalarType('ID');
    case 'label':
      return scalarType('String');
    case 'from_node':
    case 'to_node':
      return kind === 'edge' ? scalarType('ID') : undefined;
    case 'data':
      return kind === 'vector' ? vectorData : undefined;
    case 'score':
    case 'distance':
      return kind === 'edge' ? undefined : scalarType('F64');
    default:
      return undefined;
  }
}

/** Returns the type of a member of elements of these types. The member exists if at least one type has it. */
export function elementMember(
  index: SchemaIndex,
  types: readonly TypeRef[],
  name: string,
): ItemType | undefined {
  const found: ItemType[] = [];
  for (const type of types) {
    const property = index.property(type, name);
    const implicit = property ? typeOfParameter(property.type) : implicitType(type.kind, name);
    if (implicit !== undefined) found.push(implicit);
  }
  const [first, ...rest] = found;
  if (first === undefined || rest.length === 0) return first;
  if (rest.every((type) => JSON.stringify(type) === JSON.stringify(first))) return first;
  const joined = unify(found) ?? unknownType;
  return isInteger(joined) ? joined : unknownType;
}

/** Returns every name that `elementMember` accepts, declared ones first. */
export function elementMembers(index: SchemaIndex, types: readonly TypeRef[]): string[] {
  const names = new Set<string>();
  for (const type of types) {
    for (const property of index.find(type.kind, type.name)?.properties ?? []) {
      names.add(property.name);
    }
  }
  const implicit = ['id', 'label', 'from_node', 'to_node', 'data', 'score', 'distance'];
  for (const name of implicit) {
    if (types.some((type) => implicitType(type.kind, name) !== undefined)) names.add(name);
  }
  return [...names];
}
