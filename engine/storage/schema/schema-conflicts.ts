// Explains why data conflict with a schema, and what to write instead. The error lists all conflicts
// together, with one migration for all that `AS` can convert. Pure.
import { type PropertyType, printType } from '../../base/schema.js';
import type { CatalogLabel } from '../catalog/catalog-record.js';

/** A property whose type has changed. */
interface Retype {
  owner: Pick<CatalogLabel, 'kind' | 'name'>;
  property: string;
  from: PropertyType;
  to: PropertyType;
}

/** A change that is refused if such data exist, with the hint for it. */
export type Conflict =
  | { kind: 'elements'; label: number; what: string; hint: string }
  | { kind: 'values'; label: number; slot: number; retype: Retype };

/** Number of conflicts that the message names; it counts the others. */
const listedMax = 8;

const letters = { node: 'N', edge: 'E', vector: 'V' } as const;

/**
 * Returns message and hint for conflicts with stored data, in order; `version`: schema version of the data.
 */
export function printRefusal(
  conflicts: readonly Conflict[],
  version: number,
): { what: string; hint: string } {
  const texts = conflicts.map(describeConflict);
  const rest = texts.length - listedMax;
  const what = [...texts.slice(0, listedMax), ...(rest > 0 ? [`And ${rest} more.`] : [])];
  const retypes = conflicts.flatMap((one) => (one.kind === 'values' ? [one.retype] : []));
  const rules = rulesOf(retypes.filter(({ from, to }) => converts(from, to)));
  const hints = conflicts.flatMap(otherHint).slice(0, listedMax);
  if (rules !== '') hints.push(migrationHint(rules, version));
  return { what: what.join(' '), hint: hints.join(' ') };
}

function describeConflict(conflict: Conflict): string {
  if (conflict.kind === 'elements') return conflict.what;
  const { owner, property, from, to } = conflict.retype;
  const types = `from ${printType(from)} to ${printType(to)}`;
  return `${owner.name}.${property} changed ${types} while it has values.`;
}

/** Returns hints for changes that no migration can make. */
function otherHint(conflict: Conflict): string[] {
  if (conflict.kind === 'elements') return [conflict.hint];
  const { property, from, to } = conflict.retype;
  if (converts(from, to)) return [];
  const types = `${printType(from)} does not become ${printType(to)}`;
  return [`${types}: declare ${property} under another name.`];
}

/** Returns a mapping for each type: `N::Tool => _:: { price: price AS F64 } E::Made => ...`. */
function rulesOf(retypes: readonly Retype[]): string {
  const mappings = new Map<string, string[]>();
  for (const { owner, property, to } of retypes) {
    const type = `${letters[owner.kind]}::${owner.name}`;
    const rule = `${property}: ${property} AS ${printType(to)}`;
    mappings.set(type, [...(mappings.get(type) ?? []), rule]);
  }
  return [...mappings].map(([type, rules]) => `${type} => _:: { ${rules.join(', ')} }`).join(' ');
}

/** What to write if a type has another name now. `shared`: names of the properties that both have. */
export function renameHint(
  old: Pick<CatalogLabel, 'kind' | 'name'>,
  next: Pick<CatalogLabel, 'kind' | 'name'>,
  shared: readonly string[],
  version: number,
): string {
  const [from, to] = [old, next].map(({ kind, name }) => `${letters[kind]}::${name}`);
  const rules = shared.map((name) => `${name}: ${name}`).join(', ');
  return `If ${from} is ${to} now: ${migrationHint(`${from} => ${to} { ${rules} }`, version)}`;
}

function migrationHint(rules: string, version: number): string {
  const [before, after] = [`schema::${version}`, `schema::${version + 1}`];
  return (
    `Put the declarations as they were into \`${before} { … }\`, the new ones into ` +
    `\`${after} { … }\`, and write \`MIGRATION ${before} => ${after} { ${rules} }\`.`
  );
}

/** Conversions of helixql.md 2.6: number to number, anything to String, String to anything. */
function converts(from: PropertyType, to: PropertyType): boolean {
  if (from.kind !== 'scalar' || to.kind !== 'scalar') return false;
  const isNumber = (name: string) => /^[IUF]\d+$/.test(name);
  const isText = to.name === 'String' || (from.name === 'String' && to.name !== 'Json');
  return isText || (isNumber(from.name) && isNumber(to.name));
}
