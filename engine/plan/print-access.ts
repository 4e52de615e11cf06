// Prints access paths and the contents of groups.
import { unreachable } from '../base/assert.js';
import type { AccessPath, Bound, Expression, Step } from './expression.js';

type Accumulated = NonNullable<Extract<Step, { kind: 'group' }>['accumulate']>[number];

/** Returns the text of a path; `of` prints an expression. */
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
    case 'incident': {
      const edges = `${path.direction} edges ${path.edge} of ${path.list ? 'each of ' : ''}${of(path.value)}`;
      return path.take === 'edge' ? `among ${edges}` : `at ${edges}`;
    }
    case 'reverse': {
      const steps = path.back.map(({ direction, edges }) => `${direction} ${edges.join(', ')}`);
      const from = `${path.list ? 'each of ' : ''}${of(path.value)}`;
      return steps.length === 0 ? `at ${from}` : `back along ${steps.join(', ')} from ${from}`;
    }
    case 'conditional':
      return `${path.of ? printPath(path.of, of) : 'all'} if ${of(path.condition)}`;
    case 'any':
      return path.of.map((each) => printPath(each, of)).join(' or ');
    case 'shortest':
      return `the fewest of ${path.of.map((each) => printPath(each, of)).join(' and of ')}`;
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
  if (low !== undefined && low === high) return printPart(low, '=', of);
  const bound = (sign: string, one: Bound) => printPart(one, one.inclusive ? `${sign}=` : sign, of);
  return `${low ? bound('>', low) : ''}${high ? bound('<', high) : ''}`;
}

function printPart(
  { value, part }: Bound,
  sign: string,
  of: (value: Expression) => string,
): string {
  if (part === 'beginning') return ` beginning with ${of(value)}`;
  return `${part === undefined ? '' : ` by ${part.toLowerCase()}`} ${sign} ${of(value)}`;
}

export function printAccumulated(
  accumulated: Accumulated,
  of: (value: Expression) => string,
): string {
  const { where, slot } = accumulated;
  const part = where === undefined ? '' : ` where $${where.slot}: ${of(where.value)}`;
  if (accumulated.kind === 'total')
    return `${accumulated.function} $${slot}: ${of(accumulated.value)}${part}`;
  const keys = accumulated.keys.map(
    ({ value, descending }) => `${descending ? ' desc' : ' asc'} $${slot}: ${of(value)}`,
  );
  return `first ${accumulated.max}${keys.join(',')}${part}`;
}

export function printSeek(
  seek: Extract<Step, { kind: 'page' }>['seek'],
  of: (value: Expression) => string,
): string {
  if (seek === undefined) return '';
  const few =
    seek.alternative === undefined ? '' : `, unless few ${printPath(seek.alternative, of)}`;
  if (seek.list) return ' seeking in list';
  return ` seeking ${seek.property === null ? 'by id' : `in index ${seek.property}`}${few}`;
}
