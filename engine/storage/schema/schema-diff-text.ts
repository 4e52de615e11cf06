// Prints a change of the schema, one line per change, for `trellis check`.
import { ByteWriter } from '../../base/bytes.js';
import { printType } from '../../base/schema.js';
import { printSearch } from '../../base/text/search-options.js';
import type { CatalogField, CatalogLabel, StoredCatalog } from '../catalog/catalog-record.js';
import { printScalar } from '../record/fragment.js';
import type { SchemaChange } from './schema-diff.js';
import type { FieldRule, Migration } from '../../base/migration-rule.js';

const letters = { node: 'N', edge: 'E', vector: 'V' } as const;
const nameOf = ({ kind, name }: Pick<CatalogLabel, 'kind' | 'name'>) => `${letters[kind]}::${name}`;

/**
 * Returns the changes that take effect on load (helixql.md 2.7), without the labels in `except`, which a
 * migration rewrites.
 */
export function changeLines(
  stored: StoredCatalog,
  { catalog: next, texts }: Pick<SchemaChange, 'catalog' | 'texts'>,
  count: (label: number) => number,
  except: ReadonlySet<number> = new Set(),
): string[] {
  const former = new Map(stored.labels.map((label) => [label.id, label]));
  return next.labels.flatMap((label) => {
    if (except.has(label.id)) return [];
    const old = former.get(label.id);
    const name = nameOf(label);
    if (old === undefined) return [`${name} is new`];
    if (!label.isDeclared) return old.isDeclared ? [`${name} is hidden; its data stay stored`] : [];
    const back = old.isDeclared ? [] : [`${name} returns with its data`];
    const unique = label.unique && !old.unique ? [`${name} becomes UNIQUE`] : [];
    const rebuilt = texts.includes(label.id)
      ? [`${name}: its keyword index is rebuilt, ${count(label.id)} stored`]
      : [];
    return [...back, ...unique, ...fieldLines(name, old, label), ...rebuilt];
  });
}

function fieldLines(type: string, old: CatalogLabel, label: CatalogLabel): string[] {
  const former = new Map(old.fields.map((field) => [field.name, field]));
  return label.fields.flatMap((field): string[] => {
    const before = former.get(field.name);
    const name = `${type}.${field.name}`;
    const search = searchLines(name, before, field);
    if (before === undefined) return [`${name}: ${printType(field.type)} is new`, ...search];
    if (!field.isDeclared) {
      return before.isDeclared ? [`${name} is hidden; its values stay stored`] : [];
    }
    const [from, to] = [printType(before.type), printType(field.type)];
    if (from !== to) return [`${name} changes from ${from} to ${to}`];
    const back = before.isDeclared ? [] : [`${name} returns with its values`];
    return [...back, ...indexLines(name, before, field), ...search];
  });
}

function searchLines(
  name: string,
  before: CatalogField | undefined,
  { search }: CatalogField,
): string[] {
  if (JSON.stringify(before?.search) === JSON.stringify(search)) return [];
  if (search === undefined) return [`${name} loses SEARCH`];
  return [`${name} gets ${printSearch(search)}`];
}

function indexLines(name: string, before: CatalogField, { index }: CatalogField): string[] {
  if (before.index === index) return [];
  const words = { none: 'no index', index: 'an index', unique: 'a unique index' } as const;
  return [`${name} gets ${words[index]}`];
}

/** Returns what a migration does to every type that it maps. */
export function migrationLines(
  stored: StoredCatalog,
  { fromVersion, toVersion, types }: Migration,
  count: (label: number) => number,
): string[] {
  const lines = types.map(({ kind, from, to, fields }) => {
    const label = stored.labels.find((each) => each.kind === kind && each.name === from);
    const elements = label === undefined ? 0 : count(label.id);
    const rules = fields.map(({ name, rule }) => `${name}: ${ruleText(rule)}`).join(', ');
    const target = from === to ? '' : ` => ${nameOf({ kind, name: to })}`;
    const copied = new Set(
      fields.map(({ rule }) => (rule.kind === 'copy' ? rule.from : undefined)),
    );
    const lost = (label?.fields ?? []).filter((each) => each.isDeclared && !copied.has(each.name));
    const loss = lost.length === 0 ? '' : `, loses ${lost.map(({ name }) => name).join(', ')}`;
    return `  ${nameOf({ kind, name: from })}${target} { ${rules} }, ${elements} stored${loss}`;
  });
  return [`MIGRATION schema::${fromVersion} => schema::${toVersion}`, ...lines];
}

function ruleText(rule: FieldRule): string {
  if (rule.kind === 'now') return 'NOW';
  if (rule.kind === 'copy') return rule.as === undefined ? rule.from : `${rule.from} AS ${rule.as}`;
  const writer = new ByteWriter(64);
  printScalar(writer, rule.value);
  return Buffer.from(writer.take()).toString();
}
