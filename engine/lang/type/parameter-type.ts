// Converts types of parameters to types of values in a query.
import type { ParameterType } from '../../base/schema.js';
import { type ItemType, scalarType } from './type.js';

export function typeOfParameter(type: ParameterType): ItemType {
  if (type.kind === 'scalar') return scalarType(type.name);
  if (type.kind === 'list') return { kind: 'list', of: typeOfParameter(type.of) };
  const members = type.members.map((m) => [m.name, typeOfParameter(m.type)] as const);
  return { kind: 'record', members: new Map(members) };
}
