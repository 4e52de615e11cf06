// Relations between types: numbers, comparable pairs, and conversions when storing.
import type { PropertyType, TypeRef } from '../../base/schema.js';
import {
  type Basic,
  type Hit,
  isNullable,
  isUnknownOrNull,
  type ItemType,
  unknownType,
} from './type.js';

const integers = new Set<Basic>(['I8', 'I16', 'I32', 'I64', 'U8', 'U16', 'U32', 'U64', 'U128']);

export function isInteger(type: ItemType): boolean {
  return type.kind === 'scalar' && (type.name === 'Integer' || integers.has(type.name));
}

/** Returns the group of scalars that compare with each other; undefined if the type compares with nothing. */
export function findFamily(type: ItemType): string | undefined {
  if (type.kind === 'element') return 'ID';
  if (type.kind !== 'scalar') return undefined;
  if (isInteger(type) || type.name === 'F32' || type.name === 'F64') return 'number';
  return type.name;
}

export function isNumber(type: ItemType): boolean {
  return findFamily(type) === 'number' || isUnknownOrNull(type);
}

/** Returns true for the type whose values are of any JSON type. */
export const isJson = (type: ItemType): boolean => type.kind === 'scalar' && type.name === 'Json';

/** Returns true if values of the two types can be equal. */
export function comparable(a: ItemType, b: ItemType): boolean {
  if (isUnknownOrNull(a) || isUnknownOrNull(b) || isJson(a) || isJson(b)) return true;
  if (a.kind === 'list' && b.kind === 'list') return comparable(a.of, b.of);
  const family = findFamily(a);
  return family !== undefined && family === findFamily(b);
}

/** Returns true if a value may be stored as `target`, possibly converted. */
export function fits(type: ItemType, target: PropertyType): boolean {
  if (isUnknownOrNull(type)) return true;
  if (target.kind === 'list') return type.kind === 'list' && fits(type.of, target.of);
  const { name } = target;
  if (name === 'Json') return isJsonValue(type);
  if (name === 'ID') return findFamily(type) === 'ID';
  if (name === 'F32' || name === 'F64') return findFamily(type) === 'number';
  if (integers.has(name)) return isInteger(type);
  return type.kind === 'scalar' && type.name === name;
}

/** Returns true if values of the type can be written as JSON: all but elements. */
function isJsonValue(type: ItemType): boolean {
  if (type.kind === 'list') return isJsonValue(type.of);
  return type.kind === 'record'
    ? [...type.members.values()].every(isJsonValue)
    : type.kind === 'scalar';
}

/** Returns the item type of a list with these items, or undefined if their kinds differ. */
export function unify(types: readonly ItemType[]): ItemType | undefined {
  const known = types.filter((type) => !isUnknownOrNull(type));
  const [first, ...rest] = known;
  if (first === undefined) return types.length === 0 ? unknownType : types[0];
  if (first.kind !== 'scalar') {
    return rest.every((type) => type.kind !== 'scalar') ? joinTypes(first, rest) : unknownType;
  }
  if (rest.some((type) => type.kind !== 'scalar')) return unknownType;
  const family = findFamily(first);
  if (rest.some((type) => findFamily(type) !== family)) return undefined;
  const name = family !== 'number' ? first.name : known.every(isInteger) ? 'Integer' : 'F64';
  return { kind: 'scalar', name, ...(types.some(isNullable) && { sparse: true }) };
}

function joinTypes(first: ItemType, rest: readonly ItemType[]): ItemType {
  if (rest.length === 0) return first;
  if (first.kind === 'list' && rest.every((type) => type.kind === 'list')) {
    const of = unify([first.of, ...rest.map((type) => type.of)]);
    return of === undefined ? unknownType : { kind: 'list', of };
  }
  if (first.kind === 'element' && rest.every((type) => type.kind === 'element')) {
    return joinElements([first, ...rest]);
  }
  if (first.kind === 'record' && rest.every((type) => type.kind === 'record')) {
    return joinRecords([first, ...rest]);
  }
  return unknownType;
}

type RecordItem = Extract<ItemType, { kind: 'record' }>;

/** Returns a record type with the members of all; a member that one of them lacks reads as null. */
function joinRecords(list: readonly RecordItem[]): ItemType {
  const found = new Map<string, ItemType[]>();
  const partial = new Set(list.flatMap((record) => [...(record.partial ?? [])]));
  for (const [name, type] of list.flatMap(({ members }) => [...members])) {
    const types = found.get(name);
    if (types) types.push(type);
    else found.set(name, [type]);
  }
  const members = new Map<string, ItemType>();
  for (const [name, types] of found) {
    if (types.length < list.length) partial.add(name);
    members.set(name, unify(types) ?? unknownType);
  }
  const sparse = list.some(isNullable) && ({ sparse: true } as const);
  return { kind: 'record', members, ...sparse, ...(partial.size > 0 && { partial }) };
}

type ElementItem = Extract<ItemType, { kind: 'element' }>;

/** Removes duplicates: a list that contains a list twice at each level would repeat a type 2^n times. */
function distinct(types: readonly TypeRef[]): TypeRef[] {
  return [...new Map(types.map((type) => [`${type.kind} ${type.name}`, type])).values()];
}

/** Returns the hit type of several searches, like that of a reranker: a score, and perhaps a distance. */
export function joinHits(hits: readonly Hit[]): Hit {
  if (hits.every((hit) => hit === hits[0])) return hits[0]!;
  return hits.some((hit) => hit === 'none' || hit === 'mixed') ? 'mixed' : 'reranked';
}

/** Elements that no search with `by` found have no `hit`. */
function joinBest(list: readonly ElementItem[]): { best?: ItemType } {
  const known = list.flatMap(({ best }) => best ?? []);
  const best = known.length === 0 ? undefined : unify(known);
  if (best?.kind !== 'element') return {};
  return { best: known.length === list.length ? best : { ...best, sparse: true } };
}

function joinElements(list: readonly ElementItem[]): ItemType {
  const types = distinct(list.flatMap((type) => type.types));
  const origins = list.map((type) => type.reached);
  const [origin] = origins;
  const isSameDirection =
    origin !== undefined && origins.every((other) => other?.direction === origin.direction);
  const far = isSameDirection ? distinct(origins.flatMap((each) => each!.far)) : [];
  return {
    kind: 'element',
    types,
    hit: joinHits(list.map(({ hit }) => hit)),
    ...(list.some(isNullable) && { sparse: true }),
    ...(list.some((type) => type.hops) && { hops: true }),
    ...joinBest(list),
    ...(isSameDirection && { reached: { direction: origin.direction, far } }),
  };
}
