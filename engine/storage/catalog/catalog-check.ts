// Whether a catalog that comes from outside, in a dump, is one: every form of it is looked at before anything
// is made of it. Invariant: what has no fault here is what a sequence of programs could have left, and every
// row is either kept to it or refused.
import { ByteWriter } from '../../base/bytes.js';
import { integerFits } from '../../base/integer.js';
import type { ScalarName } from '../../base/schema.js';
import { Instant, type Scalar, Uuid } from '../../base/value.js';
import { printScalar, readFragment } from '../record/fragment.js';
import { type CatalogField, type CatalogLabel, unhidden } from './catalog-record.js';

/** Keys have two bytes for a label, four for an index. */
const labelMax = 0xffff;
const indexMax = 0xffff_fffe;
const slotsMax = 0xffff;
const depthMax = 32;

const integers = ['I8', 'I16', 'I32', 'I64', 'U8', 'U16', 'U32', 'U64', 'U128'];
const scalarNames: ReadonlySet<unknown> = new Set<unknown>(
  ['String', 'Boolean', 'Date', 'ID', 'F32', 'F64'].concat(integers),
);

const kinds: readonly unknown[] = ['node', 'edge', 'vector'];
const indexes: readonly unknown[] = ['none', 'index', 'unique'];

class Fault extends Error {}

/** Words for the first thing in it that no catalog has, with its place. */
export function catalogFault(value: unknown): string | undefined {
  try {
    checkCatalog(value);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

function need(isRight: boolean, place: string, what: string): asserts isRight {
  if (!isRight) throw new Fault(`${place} is no ${what}`);
}

type Table = Record<string, unknown>;

function table(value: unknown, place: string, known: readonly string[]): Table {
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
  need(isTable, place, 'object');
  for (const name of Object.keys(value as Table)) {
    need(known.includes(name), `${place}.${name.slice(0, 40)}`, 'part of a catalog');
  }
  return value as Table;
}

function integer(value: unknown, place: string, low: number, high: number): number {
  const isRight = Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
  need(isRight, place, `number from ${low} to ${high}`);
  return value as number;
}

function list(value: unknown, place: string): unknown[] {
  need(Array.isArray(value), place, 'list');
  return value;
}

function name(value: unknown, place: string): void {
  const isName = typeof value === 'string' && /^[A-Za-z_]\w{0,1023}$/.test(value);
  need(isName, place, 'name');
}

const flag = (value: unknown, place: string): void =>
  need(typeof value === 'boolean', place, 'boolean');

/** Hears of things that there may be once. */
class Once {
  readonly #seen = new Set<unknown>();

  note(value: unknown, place: string): void {
    need(!this.#seen.has(value), place, 'value of its own');
    this.#seen.add(value);
  }
}

function checkCatalog(value: unknown): void {
  const top = table(value, 'catalog', ['version', 'nextLabel', 'nextIndex', 'labels']);
  integer(top.version, 'catalog.version', 0, Number.MAX_SAFE_INTEGER);
  const nextLabel = integer(top.nextLabel, 'catalog.nextLabel', 1, labelMax);
  const nextIndex = integer(top.nextIndex, 'catalog.nextIndex', 1, indexMax);
  const labels = list(top.labels, 'catalog.labels');
  const [ids, names, indexIds] = [new Once(), new Once(), new Once()];
  labels.forEach((label, i) => {
    const place = `catalog.labels[${i}]`;
    checkLabel(label, place, nextLabel, { indexIds, nextIndex });
    const { id, kind, name: own } = label as CatalogLabel;
    ids.note(id, `${place}.id`);
    names.note(`${kind} ${own}`, `${place}.name`);
  });
  checkEnds(labels as CatalogLabel[]);
  const stored = value as Parameters<typeof unhidden>[0];
  unhidden(stored).labels.forEach(({ fields }, i) => {
    const once = new Once();
    for (const field of fields) once.note(field.name, `catalog.labels[${i}].fields: ${field.name}`);
  });
  checkDefaults(stored);
}

const labelParts = ['id', 'kind', 'name', 'isDeclared', 'from', 'to', 'unique', 'slots', 'fields'];

function checkLabel(
  value: unknown,
  place: string,
  nextLabel: number,
  indexes: { indexIds: Once; nextIndex: number },
): void {
  const label = table(value, place, labelParts);
  integer(label.id, `${place}.id`, 1, nextLabel - 1);
  need(kinds.includes(label.kind), `${place}.kind`, 'kind of type');
  name(label.name, `${place}.name`);
  flag(label.isDeclared, `${place}.isDeclared`);
  const isEdge = label.kind === 'edge';
  for (const part of ['from', 'to', 'unique'] as const) {
    if (isEdge || label[part] === undefined) continue;
    need(false, `${place}.${part}`, `part of a ${String(label.kind)} type`);
  }
  if (label.unique !== undefined) flag(label.unique, `${place}.unique`);
  const slots = integer(label.slots, `${place}.slots`, 0, slotsMax);
  const once = new Once();
  list(label.fields, `${place}.fields`).forEach((field, i) => {
    const at = `${place}.fields[${i}]`;
    checkField(field, at, slots, { ...indexes, isDeclared: label.isDeclared === true });
    once.note((field as CatalogField).slot, `${at}.slot`);
  });
}

/** What a field is one of. */
interface FieldContext {
  indexIds: Once;
  nextIndex: number;
  /** Of its type. */
  isDeclared: boolean;
}

const fieldParts = ['name', 'type', 'slot', 'index', 'indexId', 'isDeclared', 'default'];

function checkField(
  value: unknown,
  place: string,
  slots: number,
  { indexIds, nextIndex, isDeclared }: FieldContext,
): void {
  const field = table(value, place, fieldParts);
  name(field.name, `${place}.name`);
  checkType(field.type, `${place}.type`, 0);
  integer(field.slot, `${place}.slot`, 0, slots - 1);
  need(indexes.includes(field.index), `${place}.index`, 'kind of index');
  const indexId = integer(field.indexId, `${place}.indexId`, 0, nextIndex - 1);
  need((indexId === 0) === (field.index === 'none'), `${place}.indexId`, 'number of that index');
  if (indexId !== 0) {
    indexIds.note(indexId, `${place}.indexId`);
  }
  flag(field.isDeclared, `${place}.isDeclared`);
  const isShown = field.isDeclared === true && isDeclared;
  need(indexId === 0 || isShown, `${place}.index`, 'index of a hidden property');
}

function checkType(value: unknown, place: string, depth: number): void {
  need(depth < depthMax, place, 'type');
  const type = table(value, place, ['kind', 'name', 'of']);
  if (type.kind === 'list') {
    need(type.name === undefined, `${place}.name`, 'part of a list');
    return checkType(type.of, `${place}.of`, depth + 1);
  }
  need(type.kind === 'scalar', `${place}.kind`, 'kind of value');
  need(scalarNames.has(type.name), `${place}.name`, 'scalar type');
  need(type.of === undefined, `${place}.of`, 'part of a scalar');
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

/** What a default says is a value of its property's type. */
function checkDefaults(stored: Parameters<typeof unhidden>[0]): void {
  stored.labels.forEach((label, i) => {
    label.fields.forEach((field, j) => {
      const place = `catalog.labels[${i}].fields[${j}].default`;
      if (field.default === undefined) return;
      const given = table(field.default, place, ['kind', 'text']);
      const isNow = given.kind === 'now' && given.text === undefined;
      if (isNow) {
        const { type } = field;
        const isTime = type.kind === 'scalar' && (type.name === 'Date' || type.name === 'I64');
        need(isTime, place, 'default of its type');
        return;
      }
      need(given.kind === 'literal' && typeof given.text === 'string', place, 'default');
      need(isLiteral(field), place, 'default of its type');
    });
  });
}

/** A literal that is read as it is printed. */
function isLiteral({ type, default: given }: CatalogField): boolean {
  const { text } = given as { text: string };
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
