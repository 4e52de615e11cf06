// [compat] Returns the print form of a static type (plan/print-form.ts). Types share parts if variables
// contain variables, so each part is visited once.
import type { Form } from '../../plan/print-form.js';
import type { ItemType } from './type.js';

/** Returns undefined if the value needs no form. */
export function buildForm(type: ItemType): Form | undefined {
  const known = new Map<ItemType, Form | undefined>();
  const find = (part: ItemType): Form | undefined => {
    if (!known.has(part)) known.set(part, made(part, find));
    return known.get(part);
  };
  return find(type);
}

type Find = (type: ItemType) => Form | undefined;

function made(type: ItemType, find: Find): Form | undefined {
  switch (type.kind) {
    case 'scalar':
      return type.name === 'F64' || type.name === 'F32' ? { kind: 'float' } : undefined;
    case 'list':
      return madeOfList(type.of, find);
    case 'element':
      return undefined;
    case 'record': {
      const members = new Map<string, Form>();
      for (const [name, of] of type.members) {
        const form = find(of);
        if (form !== undefined) members.set(name, form);
      }
      return members.size === 0 ? undefined : { kind: 'record', members };
    }
  }
}

function madeOfList(of: ItemType, find: Find): Form | undefined {
  const items = find(of);
  if (of.kind !== 'record' || of.groups === undefined) {
    return items && { kind: 'list', of: items };
  }
  const members = items?.kind === 'record' ? items.members : new Map<string, Form>();
  return { kind: 'groups', of: of.groups, members };
}
