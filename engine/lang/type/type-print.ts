// Prints types for messages.
import type { ElementKind } from '../../base/schema.js';
import type { ItemType } from './type.js';

const letters: Record<ElementKind, string> = { node: 'N', edge: 'E', vector: 'V' };

/** Returns for example `U8`, `[String]`, `N<Plant>`, `record`. */
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
