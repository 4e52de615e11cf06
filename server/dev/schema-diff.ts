// Lists what a new version of the sources changes for data and for clients, one line per change.
import type { ElementType, ParameterType, Program, Query } from '../../engine/internal.js';
import { printType } from '../../engine/internal.js';

/** Returns the changes from the old program to the new one: types first, then queries. */
export function programChanges(before: Program, after: Program): string[] {
  return [
    ...typeLines('N', before.schema.nodes, after.schema.nodes, renames('node', before, after)),
    ...typeLines('E', before.schema.edges, after.schema.edges, renames('edge', before, after)),
    ...typeLines(
      'V',
      before.schema.vectors,
      after.schema.vectors,
      renames('vector', before, after),
    ),
    ...queryLines(before.queries, after.queries),
  ];
}

/**
 * Returns the new name of each renamed type of a kind by its former name, from all migrations since
 * `before`.
 */
function renames(kind: Kind, before: Program, after: Program): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  for (const { fromVersion, types } of after.migrations) {
    if (fromVersion < before.schema.version) continue;
    for (const type of types) {
      if (type.kind !== kind || type.from === type.to) continue;
      // With several migrations in a row, the first name maps to the last one.
      const first = [...renamed].find(([, to]) => to === type.from)?.[0] ?? type.from;
      renamed.set(first, type.to);
    }
  }
  return renamed;
}

type Kind = Program['migrations'][number]['types'][number]['kind'];

const byName = <T extends { name: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.name, item]));

function typeLines(
  kind: string,
  before: readonly ElementType[],
  after: readonly ElementType[],
  renamed: ReadonlyMap<string, string>,
): string[] {
  const [old, next] = [byName(before), byName(after)];
  const lines: string[] = [];
  const formerly = new Map([...renamed].map(([from, to]) => [to, from]));
  for (const [name, type] of next) {
    const was = old.get(name);
    const from = formerly.get(name);
    if (was !== undefined) lines.push(...propertyLines(`${kind}::${name}`, was, type));
    else if (from !== undefined) lines.push(`~ ${kind}::${name}, was ${kind}::${from}`);
    else lines.push(`+ ${kind}::${name}`);
  }
  for (const name of old.keys()) {
    const to = renamed.get(name);
    if (next.has(name) || (to !== undefined && !old.has(to))) continue;
    lines.push(
      to === undefined
        ? `- ${kind}::${name} is hidden; its elements stay stored`
        : `- ${kind}::${name}, its elements are ${kind}::${to} now`,
    );
  }
  return lines;
}

function propertyLines(typeName: string, before: ElementType, after: ElementType): string[] {
  const [old, next] = [byName(before.properties), byName(after.properties)];
  const lines: string[] = [];
  for (const [name, { type }] of next) {
    const was = old.get(name);
    if (was === undefined) lines.push(`+ ${typeName}.${name}: ${printType(type)}`);
    else if (printType(was.type) !== printType(type)) {
      lines.push(`~ ${typeName}.${name}: ${printType(type)}, was ${printType(was.type)}`);
    }
  }
  for (const name of old.keys()) {
    if (!next.has(name)) lines.push(`- ${typeName}.${name} is hidden; its values stay stored`);
  }
  return lines;
}

function queryLines(before: readonly Query[], after: readonly Query[]): string[] {
  const [old, next] = [byName(before), byName(after)];
  const lines: string[] = [];
  for (const [name, query] of next) {
    const was = old.get(name);
    if (was === undefined) lines.push(`+ query ${name}${parametersOf(query)}`);
    else {
      const changes = callerChanges(was, query);
      if (changes.length > 0) lines.push(`~ query ${name}: ${changes.join('; ')}`);
    }
  }
  for (const name of old.keys()) if (!next.has(name)) lines.push(`- query ${name}`);
  return lines;
}

function parametersOf({ plan }: Query): string {
  const texts = plan.parameters.map(
    ({ name, type, optional }) =>
      `${name}${optional ? '?' : ''}: ${printType(type as ParameterType)}`,
  );
  return `(${texts.join(', ')})`;
}

/** Returns the changes of the parameters and of the result of one query. */
function callerChanges(before: Query, after: Query): string[] {
  const changes: string[] = [];
  const isTaken = isSame(before.plan.parameters, after.plan.parameters);
  if (!isTaken && parametersOf(before) !== parametersOf(after)) {
    changes.push(`takes ${parametersOf(after)}`);
  }
  if (isSame(before.output, after.output)) return changes;
  const [old, next] = [membersOf(before.output), membersOf(after.output)];
  const gained = [...next].filter((name) => !old.has(name));
  const lost = [...old].filter((name) => !next.has(name));
  if (gained.length > 0) changes.push(`answers ${gained.join(', ')} too`);
  if (lost.length > 0) changes.push(`no longer answers ${lost.join(', ')}`);
  if (gained.length + lost.length === 0) changes.push('answers other types');
  return changes;
}

/**
 * Returns true if two plain values have equal structure. Types share parts, so each pair of parts is
 * visited one time: sixty types that each contain the previous one twice would otherwise take exponential
 * time.
 */
function isSame(a: unknown, b: unknown, equal = new Map<unknown, unknown>()): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (equal.get(a) === b) return true;
  const [names, others] = [Object.keys(a), Object.keys(b)];
  const isEqual =
    names.length === others.length &&
    names.every(
      (name) => Object.hasOwn(b, name) && isSame(Reflect.get(a, name), Reflect.get(b, name), equal),
    );
  if (isEqual) equal.set(a, b);
  return isEqual;
}

/** Deeper members are compared, but not listed. */
const namedDepth = 8;

/** Returns the paths of members in a result, such as `works.title`. Lists and nullable types add nothing. */
function membersOf(
  output: unknown,
  prefix = '',
  found = new Set<string>(),
  depth = 0,
): Set<string> {
  if (typeof output !== 'object' || output === null || depth > namedDepth) return found;
  if ('members' in output) {
    for (const { name, type } of output.members as { name: string; type: unknown }[]) {
      found.add(prefix + name);
      membersOf(type, `${prefix}${name}.`, found, depth + 1);
    }
  }
  if ('bare' in output) membersOf(output.bare, prefix, found, depth + 1);
  if ('of' in output) {
    for (const inner of [output.of].flat()) membersOf(inner, prefix, found, depth + 1);
  }
  return found;
}
