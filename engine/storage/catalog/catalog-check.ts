// Validates the catalog of a dump, before anything is built from it.
// Invariant: a catalog that passes is one that a sequence of programs could have left, so every row either
// fits it or is refused.
import { ByteWriter } from '../../base/bytes.js';
import { integerFits } from '../../base/integer.js';
import { Json } from '../../base/text/json.js';
import type { ScalarName } from '../../base/schema.js';
import { isLanguageName } from '../../base/text/language-name.js';
import { Instant, type Scalar, Uuid } from '../../base/value.js';
import { printScalar, readFragment } from '../record/fragment.js';
import { type CatalogField, type CatalogLabel, unhidden } from './catalog-record.js';

/** Keys have two bytes for a label and four for an index. */
const labelMax = 0xffff;
const indexMax = 0xffff_fffe;
const slotsMax = 0xffff;
const depthMax = 32;

const integers = ['I8', 'I16', 'I32', 'I64', 'U8', 'U16', 'U32', 'U64', 'U128'];
const scalarNames: ReadonlySet<unknown> = new Set<unknown>(
  ['String', 'Boolean', 'Date', 'ID', 'F32', 'F64', 'Json'].concat(integers),
);

const kinds: readonly unknown[] = ['node', 'edge', 'vector'];
const indexes: readonly unknown[] = ['none', 'index', 'unique'];

class InvalidCatalog extends Error {}

/** Returns a message that names the first invalid part and its path, or undefined for a valid catalog. */
export function findCatalogError(value: unknown): string | undefined {
  try {
    checkCatalog(value);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidCatalog) return error.message;
    throw error;
  }
}

function need(isRight: boolean, path: string, what: string): asserts isRight {
  if (!isRight) throw new InvalidCatalog(`${path} is no ${what}`);
}

type Table = Record<string, unknown>;

function table(value: unknown, path: string, known: readonly string[]): Table {
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
  need(isTable, path, 'object');
  for (const name of Object.keys(value as Table)) {
    need(known.includes(name), `${path}.${name.slice(0, 40)}`, 'part of a catalog');
  }
  return value as Table;
}

function integer(value: unknown, path: string, low: number, high: number): number {
  const isRight = Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
  need(isRight, path, `number from ${low} to ${high}`);
  return value as number;
}

function list(value: unknown, path: string): unknown[] {
  need(Array.isArray(value), path, 'list');
  return value;
}

function name(value: unknown, path: string): void {
  const isName = typeof value === 'string' && /^[A-Za-z_]\w{0,1023}$/.test(value);
  need(isName, path, 'name');
}

const flag = (value: unknown, path: string): void =>
  need(typeof value === 'boolean', path, 'boolean');

/** Checks that no value occurs twice. */
class UniqueValues {
  readonly #seen = new Set<unknown>();

  note(value: unknown, path: string): void {
    need(!this.#seen.has(value), path, 'value of its own');
    this.#seen.add(value);
  }
}

function checkCatalog(value: unknown): void {
  const top = table(value, 'catalog', ['version', 'nextLabel', 'nextIndex', 'labels']);
  integer(top.version, 'catalog.version', 0, Number.MAX_SAFE_INTEGER);
  const nextLabel = integer(top.nextLabel, 'catalog.nextLabel', 1, labelMax);
  const nextIndex = integer(top.nextIndex, 'catalog.nextIndex', 1, indexMax);
  const labels = list(top.labels, 'catalog.labels');
  const [ids, names, indexIds] = [new UniqueValues(), new UniqueValues(), new UniqueValues()];
  labels.forEach((label, i) => {
    const path = `catalog.labels[${i}]`;
    checkLabel(label, path, nextLabel, { indexIds, nextIndex });
    const { id, kind, name: own } = label as CatalogLabel;
    ids.note(id, `${path}.id`);
    names.note(`${kind} ${own}`, `${path}.name`);
  });
  checkEnds(labels as CatalogLabel[]);
  const stored = value as Parameters<typeof unhidden>[0];
  unhidden(stored).labels.forEach(({ fields }, i) => {
    const names = new UniqueValues();
    for (const field of fields)
      names.note(field.name, `catalog.labels[${i}].fields: ${field.name}`);
  });
  checkDefaults(stored);
}

const labelParts = ['id', 'kind', 'name', 'isDeclared', 'from', 'to', 'unique', 'slots', 'fields'];

function checkLabel(
  value: unknown,
  path: string,
  nextLabel: number,
  indexes: { indexIds: UniqueValues; nextIndex: number },
): void {
  const label = table(value, path, labelParts);
  integer(label.id, `${path}.id`, 1, nextLabel - 1);
  need(kinds.includes(label.kind), `${path}.kind`, 'kind of type');
  name(label.name, `${path}.name`);
  flag(label.isDeclared, `${path}.isDeclared`);
  const isEdge = label.kind === 'edge';
  for (const part of ['from', 'to', 'unique'] as const) {
    if (isEdge || label[part] === undefined) continue;
    need(false, `${path}.${part}`, `part of a ${String(label.kind)} type`);
  }
  if (label.unique !== undefined) flag(label.unique, `${path}.unique`);
  const slots = integer(label.slots, `${path}.slots`, 0, slotsMax);
  const fieldSlots = new UniqueValues();
  list(label.fields, `${path}.fields`).forEach((field, i) => {
    const at = `${path}.fields[${i}]`;
    checkField(field, at, slots, { ...indexes, isDeclared: label.isDeclared === true });
    fieldSlots.note((field as CatalogField).slot, `${at}.slot`);
  });
}

/** Context of a field. */
interface FieldContext {
  indexIds: UniqueValues;
  nextIndex: number;
  /** Whether the type of the field is declared. */
  isDeclared: boolean;
}

const fieldParts = 'name type slot index indexId isDeclared default search'.split(' ');

function checkField(
  value: unknown,
  path: string,
  slots: number,
  { indexIds, nextIndex, isDeclared }: FieldContext,
): void {
  const field = table(value, path, fieldParts);
  name(field.name, `${path}.name`);
  checkType(field.type, `${path}.type`, 0);
  integer(field.slot, `${path}.slot`, 0, slots - 1);
  need(indexes.includes(field.index), `${path}.index`, 'kind of index');
  const indexId = integer(field.indexId, `${path}.indexId`, 0, nextIndex - 1);
  need((indexId === 0) === (field.index === 'none'), `${path}.indexId`, 'number of that index');
  if (indexId !== 0) {
    indexIds.note(indexId, `${path}.indexId`);
  }
  flag(field.isDeclared, `${path}.isDeclared`);
  if (field.search !== undefined) checkSearch(field.search, `${path}.search`);
  const isShown = field.isDeclared === true && isDeclared;
  need(indexId === 0 || isShown, `${path}.index`, 'index of a hidden property');
}

function checkSearch(value: unknown, path: string): void {
  const search = table(value, path, ['weight', 'language', 'prefix']);
  integer(search.weight, `${path}.weight`, 1, 100);
  const { language, prefix } = search;
  const isKnown = typeof language === 'string' && isLanguageName(language);
  need(language === undefined || isKnown, `${path}.language`, 'language of keyword search');
  need(prefix === undefined || prefix === true, `${path}.prefix`, 'option of a property');
}

function checkType(value: unknown, path: string, depth: number): void {
  need(depth < depthMax, path, 'type');
  const type = table(value, path, ['kind', 'name', 'of']);
  if (type.kind === 'list') {
    need(type.name === undefined, `${path}.name`, 'part of a list');
    return checkType(type.of, `${path}.of`, depth + 1);
  }
  need(type.kind === 'scalar', `${path}.kind`, 'kind of value');
  need(scalarNames.has(type.name), `${path}.name`, 'scalar type');
  need(type.of === undefined, `${path}.of`, 'part of a scalar');
}

function checkEnds(labels: readonly CatalogLabel[]): void {
  const byId = new Map(labels.map((label) => [label.id, label]));
  labels.forEach((label, i) => {
    if (label.kind !== 'edge') return;
    for (const end of ['from', 'to'] as const) {
      const found = byId.get(label[end]!);
      const isEnd = found !== undefined && found.kind !== 'edge';
      need(isEnd, `catalog.labels[${i}].${end}`, 'node or vector type');
    }
  });
}

/** Every default is a value of its property's type. */
function checkDefaults(stored: Parameters<typeof unhidden>[0]): void {
  stored.labels.forEach((label, i) => {
    label.fields.forEach((field, j) => {
      const path = `catalog.labels[${i}].fields[${j}].default`;
      if (field.default === undefined) return;
      const literal = table(field.default, path, ['kind', 'text']);
      const isNow = literal.kind === 'now' && literal.text === undefined;
      if (isNow) {
        const { type } = field;
        const isTime = type.kind === 'scalar' && (type.name === 'Date' || type.name === 'I64');
        need(isTime, path, 'default of its type');
        return;
      }
      need(literal.kind === 'literal' && typeof literal.text === 'string', path, 'default');
      need(isLiteral(field), path, 'default of its type');
    });
  });
}

/** Whether printing the parsed literal gives the same text. */
function isLiteral({ type, default: literal }: CatalogField): boolean {
  const { text } = literal as { text: string };
  if (text === 'null') return true;
  if (type.kind === 'list') return false;
  try {
    const bytes = Buffer.from(text);
    const value = readFragment(bytes, 0, bytes.length, type) as Scalar;
    const writer = new ByteWriter(64);
    printScalar(writer, value, type.name);
    return Buffer.compare(writer.take(), bytes) === 0 && isOfType(value, type.name);
  } catch {
    return false;
  }
}

function isOfType(value: Scalar, type: ScalarName): boolean {
  switch (type) {
    case 'String':
      return typeof value === 'string';
    case 'Boolean':
      return typeof value === 'boolean';
    case 'Date':
      return value instanceof Instant;
    case 'ID':
      return value instanceof Uuid;
    case 'Json':
      return value instanceof Json;
    case 'F32':
    case 'F64':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return (
        (typeof value === 'bigint' || Number.isInteger(value)) &&
        integerFits(value as number | bigint, type)
      );
  }
}
