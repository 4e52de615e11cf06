// Keys of symbols within an analysis, and the kinds of types that a call accepts.
import type { ElementKind, TypeRef } from '../../base/schema.js';

export const typeKey = (kind: ElementKind, name: string): string => `type ${kind} ${name}`;
export const propertyKey = ({ kind, name }: TypeRef, property: string): string =>
  `property ${kind} ${name} ${property}`;

/** Returns the kinds of the types in the angle brackets of a source or step, the most likely first. */
export function typesMeant(call: string): readonly ElementKind[] {
  if (/^(N|AddN|UpsertN)$/.test(call)) return ['node'];
  if (/^(V|AddV|UpsertV|BatchAddV|SearchV)$/.test(call)) return ['vector'];
  if (/^(Out|In|Both|Other)|E$|^ShortestPath/.test(call)) return ['edge'];
  return ['node', 'vector', 'edge'];
}
