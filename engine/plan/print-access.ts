// Access paths as text.
import { unreachable } from '../base/assert.js';
import type { AccessPath, Bound, Expression } from './expression.js';

/** `of` prints an expression. */
export function printPath(path: AccessPath, of: (value: Expression) => string): string {
  switch (path.kind) {
    case 'id':
      return `by id ${path.list ? 'in' : '='} ${of(path.value)}`;
    case 'equal': {
      const index = path.unique ? 'unique index' : 'index';
      return `by ${index} ${path.property} ${path.list ? 'in' : '='} ${of(path.value)}`;
    }
    case 'between':
      return `by index ${path.property}${printBounds(path, of)}`;
    case 'ordered': {
      const direction = path.descending ? 'desc' : 'asc';
      return `in order of index ${path.property} ${direction}${printBounds(path, of)}`;
    }
    case 'touching': {
      const edges = `${path.direction} edges ${path.edge} of ${path.list ? 'each of ' : ''}${of(path.value)}`;
      return path.take === 'edge' ? `among ${edges}` : `at ${edges}`;
    }
    case 'any':
      return path.of.map((each) => printPath(each, of)).join(' or ');
    case 'each':
      return path.of.map((each) => `${each.type.name} ${printPath(each.path, of)}`).join(', ');
    default:
      return unreachable(path);
  }
}

function printBounds(
  { low, high }: { low?: Bound; high?: Bound },
  of: (value: Expression) => string,
): string {
  const bound = (sign: string, { value, inclusive }: Bound) =>
    ` ${sign}${inclusive ? '=' : ''} ${of(value)}`;
  return `${low ? bound('>', low) : ''}${high ? bound('<', high) : ''}`;
}
