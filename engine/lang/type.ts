// Static types of values in queries (helixql.md 4.1): what an item of a stream is, and which types go together.
import type {
  ElementKind,
  ParameterType,
  PropertyType,
  ScalarName,
  TypeRef,
} from '../base/schema.js';

/**
 * `Integer`: of no particular width, up to 128 bits. `Null`: `NONE`. `Unknown`: known only at run time, or
 * already reported as faulty; goes with everything.
 */
export type Basic = ScalarName | 'Integer' | 'Null' | 'Unknown';

/** Which search set the `score` of an element. */
export type Hit = 'none' | 'vector' | 'text' | 'reranked';

export type ItemType =
  | { kind: 'scalar'; name: Basic }
  | { kind: 'list'; of: ItemType }
  | { kind: 'element'; types: readonly TypeRef[]; hit: Hit }
  | { kind: 'record'; members: ReadonlyMap<string, ItemType> };

export const scalarType = (name: Basic): ItemType => ({ kind: 'scalar', name });
export const unknownType: ItemType = scalarType('Unknown');

const integers = new Set<Basic>(['I8', 'I16', 'I32', 'I64', 'U8', 'U16', 'U32', 'U64', 'U128']);

export function isInteger(type: ItemType): boolean {
  return type.kind === 'scalar' && (type.name === 'Integer' || integers.has(type.name));
}

/** Whether the type is the scalar `name`, or not known. */
export function isBasic(type: ItemType, name: Basic): boolean {
  return type.kind === 'scalar' && (type.name === name || type.name === 'Unknown');
}

export function isVague(type: ItemType): boolean {
  return type.kind === 'scalar' && (type.name === 'Unknown' || type.name === 'Null');
}

/** Groups of scalars that compare with each other; undefined for what compares with nothing. */
export function familyOf(type: ItemType): string | undefined {
  if (type.kind === 'element') return 'ID';
  if (type.kind !== 'scalar') return undefined;
  if (isInteger(type) || type.name === 'F32' || type.name === 'F64') return 'number';
  return type.name;
}

export function isNumber(type: ItemType): boolean {
  return familyOf(type) === 'number' || isVague(type);
}

/** Whether values of the two types can be equal (helixql.md 3.8). */
export function comparable(a: ItemType, b: ItemType): boolean {
  if (isVague(a) || isVague(b)) return true;
  if (a.kind === 'list' && b.kind === 'list') return comparable(a.of, b.of);
  const family = familyOf(a);
  return family !== undefined && family === familyOf(b);
}

/** Whether a value may be stored as `target`, possibly converted (helixql.md 4.3). */
export function fits(type: ItemType, target: PropertyType): boolean {
  if (isVague(type)) return true;
  if (target.kind === 'list') return type.kind === 'list' && fits(type.of, target.of);
  const { name } = target;
  if (name === 'ID') return familyOf(type) === 'ID';
  if (name === 'F32' || name === 'F64') return familyOf(type) === 'number';
  if (integers.has(name)) return isInteger(type);
  return type.kind === 'scalar' && type.name === name;
}

/** The type of every item of a list with these items, or undefined when they are of different kinds. */
export function unify(types: readonly ItemType[]): ItemType | undefined {
  const known = types.filter((type) => !isVague(type));
  const [first, ...rest] = known;
  if (first === undefined) return types.length === 0 ? unknownType : types[0];
  if (first.kind !== 'scalar') {
    return rest.every((type) => type.kind !== 'scalar') ? joinTypes(first, rest) : unknownType;
  }
  if (rest.some((type) => type.kind !== 'scalar')) return unknownType;
  const family = familyOf(first);
  if (rest.some((type) => familyOf(type) !== family)) return undefined;
  if (family !== 'number') return first;
  return known.every(isInteger) ? scalarType('Integer') : scalarType('F64');
}

function joinTypes(first: ItemType, rest: readonly ItemType[]): ItemType {
  if (rest.length === 0) return first;
  if (first.kind === 'list' && rest.every((type) => type.kind === 'list')) {
    const of = unify([first.of, ...rest.map((type) => type.of)]);
    return of === undefined ? unknownType : { kind: 'list', of };
  }
  if (first.kind === 'element' && rest.every((type) => type.kind === 'element')) {
    const types = [...first.types, ...rest.flatMap((type) => type.types)];
    return { kind: 'element', types, hit: first.hit };
  }
  return unknownType;
}

export function typeOfParameter(type: ParameterType): ItemType {
  if (type.kind === 'scalar') return scalarType(type.name);
  if (type.kind === 'list') return { kind: 'list', of: typeOfParameter(type.of) };
  const members = type.members.map((m) => [m.name, typeOfParameter(m.type)] as const);
  return { kind: 'record', members: new Map(members) };
}

const letters: Record<ElementKind, string> = { node: 'N', edge: 'E', vector: 'V' };

/** For messages: `U8`, `[String]`, `N<Plant>`, `record`. */
export function printItemType(type: ItemType): string {
  switch (type.kind) {
    case 'scalar':
      return type.name === 'Null' ? 'NONE' : type.name;
    case 'list':
      return `[${printItemType(type.of)}]`;
    case 'element': {
      const names = [...new Set(type.types.map((ref) => ref.name))];
      return `${letters[type.types[0]?.kind ?? 'node']}<${names.join(', ')}>`;
    }
    case 'record':
      return 'a record';
  }
}
