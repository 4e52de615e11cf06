// Reads one named member: a declared property or an implicit member of an element, a member of a record or
// object. The position of a property is looked up once per label. A declared property hides a search
// attribute of the same name.
import { printUuid } from '../../base/id.js';
import { Uuid } from '../../base/value.js';
import { decodeProperty, labelOf, uuidAt } from '../../storage/record/record.js';
import type { Catalog, Label, StoredProperty } from '../../storage/table/view-types.js';
import { recordOf } from './element.js';
import type { Frame } from './frame.js';
import { vectorOf } from './bound-element.js';
import { Element, RecordValue, type Value } from './value.js';

/**
 * Returns the member of a value. Returns null for null and for values without the member, and the list of
 * members for a list.
 */
export type MemberReader = (frame: Frame, value: Value) => Value;

/** What a name means on elements of one label. */
export type Member =
  | { kind: 'property'; property: StoredProperty }
  | { kind: 'id' | 'label' | 'from_node' | 'to_node' | 'data' | 'hops' | 'score' | 'distance' }
  | { kind: 'hit' }
  | { kind: 'none' };

const implicitKinds: Record<string, readonly Label['kind'][]> = {
  id: ['node', 'edge', 'vector'],
  label: ['node', 'edge', 'vector'],
  from_node: ['edge'],
  to_node: ['edge'],
  data: ['vector'],
  hops: ['node', 'vector'],
  score: ['node', 'vector'],
  distance: ['node', 'vector'],
  hit: ['node', 'vector'],
};

const noMember: Member = { kind: 'none' };

export function memberOf(label: Label, name: string): Member {
  const property = label.properties.find((each) => each.name === name);
  if (property) return { kind: 'property', property };
  const isImplicit =
    Object.hasOwn(implicitKinds, name) && implicitKinds[name]!.includes(label.kind);
  return isImplicit ? ({ kind: name } as Member) : noMember;
}

/** Members of a name by label id, looked up once. */
export function memberTable(catalog: Catalog, name: string): (label: number) => Member {
  const members: (Member | undefined)[] = [];
  return (label) => (members[label] ??= memberOf(catalog.label(label), name));
}

/**
 * Returns the score as queries see it. [compat] shows the distance of a vector hit until a reranker has set a
 * score.
 */
export function scoreOf(element: Element, compat: boolean): number {
  const { score, distance, reranked } = element.hit;
  return compat && !reranked && !Number.isNaN(distance) ? distance : score;
}

const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

export function memberReader(catalog: Catalog, name: string, compat: boolean): MemberReader {
  const memberIn = memberTable(catalog, name);
  return function read(frame, value): Value {
    if (value instanceof Element) {
      const record = recordOf(frame, value);
      return record === undefined
        ? null
        : readMember(frame, value, record, memberIn(labelOf(record)), compat);
    }
    if (value === null) return null;
    if (value instanceof RecordValue) return value.member(name) ?? null;
    if (value instanceof Map) return value.get(name) ?? null;
    if (Array.isArray(value)) {
      frame.tick(value.length);
      return (value as readonly Value[]).map((item) => read(frame, item));
    }
    return null;
  };
}

function readMember(
  frame: Frame,
  element: Element,
  record: Uint8Array,
  member: Member,
  compat: boolean,
): Value {
  switch (member.kind) {
    case 'property':
      return decodeProperty(record, member.property);
    case 'id':
      return new Uuid(printUuid(record, uuidAt.own));
    case 'label':
      return frame.view.catalog.label(labelOf(record)).name;
    case 'from_node':
      return new Uuid(printUuid(record, uuidAt.from));
    case 'to_node':
      return new Uuid(printUuid(record, uuidAt.to));
    case 'data':
      return vectorOf(frame, element) ?? null;
    case 'hops':
      return element.hops < 0 ? null : element.hops;
    case 'score':
      return numberOrNull(scoreOf(element, compat));
    case 'distance':
      return numberOrNull(element.hit.distance);
    case 'hit':
      return element.hit.found ?? null;
    case 'none':
      return null;
  }
}
