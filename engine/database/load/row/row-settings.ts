// Reads settings rows. Each sets how the following rows of one type in the stream are read:
//
//   {"settings":{"node":"Person","upsert":"email"}}
//   {"settings":{"edge":"Knows","from_key":"email","to_key":"email"}}
//
// Invariant: settings that cannot be applied end the load, because rows would be misread.
import { excerpt, fail } from '../../../base/errors.js';
import type { ElementKind } from '../../../base/schema.js';
import type { JsonView } from '../../../json/view.js';
import type { Catalog, Label, StoredProperty } from '../../../storage/table/view-types.js';
import { textOf } from './row-text.js';

const kinds = ['node', 'edge', 'vector'] as const satisfies readonly ElementKind[];

const namesBy: Record<ElementKind, readonly string[]> = {
  node: ['upsert'],
  edge: ['from_key', 'to_key'],
  vector: ['upsert'],
};

/** The properties by which rows of a type are matched. All have unique indexes. */
export interface RowKeys {
  from?: StoredProperty | undefined;
  to?: StoredProperty | undefined;
  upsert?: StoredProperty | undefined;
}

export class RowSettings {
  /** Property names by setting, by label. */
  readonly #renamed = new Map<number, Map<string, string>>();

  /** Replaces the earlier settings of the type. Fails UNKNOWN_TYPE, PARAM_VALUE. */
  read(view: JsonView, catalog: Catalog): void {
    if (view.kind !== 'object') {
      fail('PARAM_TYPE', { param: 'settings', type: 'object', got: view.kind });
    }
    const kind = kinds.find((one) => view.member(one) !== undefined);
    if (kind === undefined) {
      fail('PARAM_MISSING', { owner: 'settings', param: 'node, edge or vector', type: 'String' });
    }
    const name = textOf(view.member(kind)!, kind);
    const label = catalog.find(kind, name);
    if (label === undefined) fail('UNKNOWN_TYPE', { kind, name: excerpt(name) });
    const renamed = new Map<string, string>();
    for (const member of view.names()) {
      if (member === kind) continue;
      if (!namesBy[kind].includes(member)) {
        fail('UNKNOWN_MEMBER', { owner: `settings of a ${kind} type`, member: excerpt(member) });
      }
      renamed.set(member, textOf(view.member(member)!, member));
    }
    this.#renamed.set(label.id, renamed);
    this.keysOf(label, catalog);
  }

  /** Returns the keys with the current properties of the catalog. Fails PARAM_VALUE. */
  keysOf(label: Label, catalog: Catalog): RowKeys {
    const renamed = this.#renamed.get(label.id);
    if (renamed === undefined) return {};
    const key = (member: string, owner: Label): StoredProperty | undefined => {
      const name = renamed.get(member);
      return name === undefined ? undefined : uniqueProperty(member, owner, name);
    };
    if (label.kind !== 'edge') return { upsert: key('upsert', label) };
    const [from, to] = [catalog.label(label.from!), catalog.label(label.to!)];
    return { from: key('from_key', from), to: key('to_key', to) };
  }
}

function uniqueProperty(param: string, owner: Label, name: string): StoredProperty {
  const property = owner.properties.find((one) => one.name === name);
  if (property?.index === 'unique') return property;
  const allowed = `a property of ${owner.name} that has a unique index`;
  return fail('PARAM_VALUE', { param, allowed, got: excerpt(name) });
}
