// Checks migrations, and determines the source of every property of every type.
import {
  type ElementKind,
  type ElementType,
  printType,
  type Property,
  type Schema,
  findType,
  typesOf,
} from '../../base/schema.js';
import type { FieldRule, Migration, TypeMigration } from '../../base/migration-rule.js';
import type { Mapping, MappingRule, MigrationDeclaration } from '../syntax/ast-schema.js';
import type { Report } from '../syntax/diagnostic.js';
import { defaultValue, findScalar } from './schema-checker.js';
import { didYouMean } from '../../base/did-you-mean.js';

export interface DeclaredMigration {
  declaration: MigrationDeclaration;
  report: Report;
}

/** Returns the valid migrations by the version that they start from. */
export function buildMigrations(
  declared: readonly DeclaredMigration[],
  schemas: ReadonlyMap<number, Schema>,
): Migration[] {
  const migrations: Migration[] = [];
  const left = new Set<number>();
  for (const { declaration, report } of declared) {
    const { from, to } = declaration;
    const [before, after] = [from, to].map((version) => {
      const schema = schemas.get(version.number);
      const known = [...schemas.keys()].sort((a, b) => a - b).join(', ');
      if (schema === undefined) {
        const message = `There is no version ${version.number}.`;
        report('E108', version.span, message, `There are versions ${known}.`);
      }
      return schema;
    });
    if (left.has(from.number)) {
      report('E108', from.span, `A migration from version ${from.number} is there already.`);
    }
    if (before === undefined || after === undefined || left.has(from.number)) continue;
    left.add(from.number);
    if (to.number <= from.number) {
      report('E108', to.span, 'A migration leads to a higher version.');
      continue;
    }
    const types = migrateTypes(declaration.mappings, before, after, report);
    migrations.push({ fromVersion: from.number, toVersion: to.number, types });
  }
  return migrations.sort((a, b) => a.fromVersion - b.fromVersion);
}

function migrateTypes(
  mappings: Mapping[],
  before: Schema,
  after: Schema,
  report: Report,
): TypeMigration[] {
  const types: TypeMigration[] = [];
  const mapped = new Set<string>();
  for (const mapping of mappings) {
    const key = `${mapping.kind} ${mapping.from.text}`;
    if (mapped.has(key)) {
      report('E107', mapping.from.span, `\`${mapping.from.text}\` is mapped twice.`, 'Remove one.');
    }
    mapped.add(key);
    const type = migrateType(mapping, before, after, report);
    if (type !== undefined) types.push(type);
  }
  for (const kind of ['node', 'edge', 'vector'] as const) {
    for (const type of typesOf(before, kind)) {
      const target = findType(after, type);
      if (mapped.has(`${kind} ${type.name}`) || target === undefined) continue;
      const copiedFields = copied(type, target, new Set());
      const same = copiedFields.length === type.properties.length;
      if (!same) types.push({ kind, from: type.name, to: type.name, fields: copiedFields });
    }
  }
  return types;
}

type Field = TypeMigration['fields'][number];

/** Returns the properties that the target declares with the same name and type. */
function copied(from: ElementType, to: ElementType, listed: ReadonlySet<string>): Field[] {
  return to.properties.flatMap((target): Field[] => {
    const source = from.properties.find((property) => property.name === target.name);
    if (listed.has(target.name) || source === undefined) return [];
    if (printType(source.type) !== printType(target.type)) return [];
    return [{ name: target.name, rule: { kind: 'copy', from: source.name } }];
  });
}

function migrateType(
  mapping: Mapping,
  before: Schema,
  after: Schema,
  report: Report,
): TypeMigration | undefined {
  const { kind, from } = mapping;
  const target = mapping.to ?? { kind, name: from };
  if (target.kind !== kind) {
    const message = 'A mapping does not change the kind of a type.';
    report('E205', target.name.span, message);
    return undefined;
  }
  const find = (schema: Schema, of: ElementKind, name: Mapping['from']) => {
    const type = findType(schema, { kind: of, name: name.text });
    if (type !== undefined) return type;
    const names = typesOf(schema, of).map((other) => other.name);
    const message = `Version ${schema.version} declares no \`${name.text}\`.`;
    report('E201', name.span, message, didYouMean(name.text, names));
    return undefined;
  };
  const source = find(before, kind, from);
  const result = source && find(after, kind, target.name);
  if (source === undefined || result === undefined) return undefined;
  const fields: Field[] = [];
  const listed = new Set<string>();
  for (const rule of mapping.rules) {
    const { name } = rule;
    if (listed.has(name.text)) report('E702', name.span, `\`${name.text}\` is listed twice.`);
    listed.add(name.text);
    const property = findProperty(result, name, report, swapped(rule, result, source));
    const migrated = property && fieldRule(rule, property, source, report);
    if (migrated !== undefined) fields.push({ name: name.text, rule: migrated });
  }
  fields.push(...copied(source, result, listed));
  return { kind, from: source.name, to: result.name, fields };
}

/** Reports fields in the wrong order: the new name comes first. */
function swapped(
  { name, value }: MappingRule,
  result: ElementType,
  source: ElementType,
): string | undefined {
  const has = (type: ElementType, wanted: string) =>
    type.properties.some((property) => property.name === wanted);
  if (value.kind !== 'copy' || has(result, name.text)) return undefined;
  const isTurned = has(source, name.text) && has(result, value.from.text);
  return isTurned ? `The new name stands first: \`${value.from.text}: ${name.text}\`.` : undefined;
}

function findProperty(
  type: ElementType,
  name: Mapping['from'],
  report: Report,
  otherwise?: string,
): Property | undefined {
  const property = type.properties.find((other) => other.name === name.text);
  if (property !== undefined) return property;
  const names = type.properties.map((other) => other.name);
  const message = `\`${type.name}\` has no property \`${name.text}\`.`;
  report('E202', name.span, message, otherwise ?? didYouMean(name.text, names));
  return undefined;
}

/** Returns undefined after a report, and for `NONE`, which leaves the property unset. */
function fieldRule(
  { value }: MappingRule,
  target: Property,
  source: ElementType,
  report: Report,
): FieldRule | undefined {
  if (value.kind === 'faulty') return undefined;
  if (value.kind === 'literal') return defaultValue(value, target.type, report);
  const property = findProperty(source, value.from, report);
  if (property === undefined) return undefined;
  const wanted = printType(target.type);
  const copy = { kind: 'copy', from: property.name } as const;
  if (value.as === undefined) {
    const declared = printType(property.type);
    if (declared === wanted) return copy;
    const message = `\`${target.name}\` is ${wanted}, \`${property.name}\` was ${declared}.`;
    report('E205', value.from.span, message, `Write \`${property.name} AS ${wanted}\`.`);
    return undefined;
  }
  const as = findScalar(value.as, report);
  if (as === undefined) {
    report('E209', value.as.span, `\`${value.as.text}\` is no scalar type.`);
    return undefined;
  }
  if (property.type.kind !== 'scalar' || !converts(property.type.name, as)) {
    const message = `${printType(property.type)} never converts to ${as}.`;
    report('E656', value.as.span, message);
    return undefined;
  }
  if (as === wanted) return { ...copy, as };
  report('E205', value.as.span, `\`${target.name}\` is ${wanted}, not ${as}.`);
  return undefined;
}

/**
 * Returns true for conversions of numbers to numbers, anything to String, and String to any type but
 * Json.
 */
function converts(from: string, to: string): boolean {
  const isNumber = (name: string) => /^[IUF]\d+$/.test(name);
  const isParsed = from === 'String' && to !== 'Json';
  return from === to || to === 'String' || isParsed || (isNumber(from) && isNumber(to));
}
