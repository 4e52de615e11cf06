// Random calls of functions for the oracle's queries: texts, dates, branches.
import { propertyTypes, valueTexts } from '../oracle-schema.js';
import type { Random } from '../../random.js';

/** What of the writer of queries is needed here. */
export interface Writer {
  readonly random: Random;
  properties(types: readonly string[]): string[];
  parameter(type: string): string;
  arithmetic(types: readonly string[], depth: number, item?: string): string;
  condition(types: readonly string[], depth: number, item?: string): string;
}

function ofType(writer: Writer, types: readonly string[], type: string, item: string): string {
  const { random } = writer;
  const names = writer.properties(types).filter((name) => propertyTypes[name] === type);
  if (names.length > 0 && random.chance(0.7)) return `${item}::{${random.pick(names)}}`;
  return random.chance(0.3) ? writer.parameter(type) : random.pick(valueTexts[type]!);
}

const small = ['0', '1', '2', '5', '99'];

export function textCall(writer: Writer, types: readonly string[], item = '_', depth = 1): string {
  const { random } = writer;
  const own = () => ofType(writer, types, 'String', item);
  const text = () => (depth > 0 && random.chance(0.4) ? textCall(writer, types, item, 0) : own());
  const part = () => random.pick(['"e"', '"er"', '"\u{1f600}"', '"F"', '"x"']);
  return random.pick([
    () => `${random.pick(['LOWER', 'UPPER', 'TRIM'])}(${text()})`,
    () => `CONCAT(${text()}, ${random.pick(['"-"', '5', 'true', '1.5'])}, ${text()})`,
    () => `CONCAT(${text()}, ${ofType(writer, types, random.pick(['Date', 'I64', 'F64']), item)})`,
    () => `SUBSTRING(${text()}, ${random.pick(small)}, ${random.pick(small)})`,
    () => `SUBSTRING(${text()}, ${random.pick(small)})`,
    () => `REPLACE(${text()}, ${random.pick([part(), '""'])}, ${part()})`,
    () => `COALESCE(${own()}, ${part()})`,
    () => `IF(${writer.condition(types, 0, item)}, ${text()}, ${part()})`,
  ])();
}

const units = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'];

export function dateCall(writer: Writer, types: readonly string[], item = '_'): string {
  const { random } = writer;
  const date = () => ofType(writer, types, 'Date', item);
  const unit = `"${random.pick(units)}"`;
  const written = () => random.pick(['"2024-02-29T12:30:00.25Z"', '"2026-12-31"', '"1969-01-31"']);
  return random.pick([
    () => `TRUNC(${date()}, ${unit})`,
    () => `DATE_ADD(${date()}, ${random.pick(['0', '1', '-1', '30', '-13'])}, ${unit})`,
    () => `DATE_ADD(${written()}, ${writer.arithmetic([], 0)}, "month")`,
    () => `COALESCE(${date()}, NOW)`,
  ])();
}

export function numberCall(writer: Writer, types: readonly string[], item = '_'): string {
  const { random } = writer;
  const date = () => ofType(writer, types, 'Date', item);
  return random.pick([
    () => `LENGTH(${textCall(writer, types, item, 0)})`,
    () => `COUNT(SPLIT(${ofType(writer, types, 'String', item)}, "e"))`,
    () => `${random.pick(['YEAR', 'MONTH', 'DAY', 'HOUR'])}(${date()})`,
    () => `DATE_DIFF(${date()}, ${date()}, "${random.pick(units)}")`,
    () => `COALESCE(${writer.arithmetic(types, 0, item)}, ${random.pick(small)})`,
    () => `IF(${writer.condition(types, 0, item)}, ${writer.arithmetic(types, 0, item)})`,
  ])();
}

export function functionTest(writer: Writer, types: readonly string[], item = '_'): string {
  const { random } = writer;
  const operator = random.pick(['EQ', 'NEQ', 'GT', 'LTE']);
  return random.pick([
    () => `${textCall(writer, types, item)}::${operator}(${textCall(writer, types, item, 0)})`,
    () => `${dateCall(writer, types, item)}::${operator}(${dateCall(writer, types, item)})`,
    () => `${numberCall(writer, types, item)}::${operator}(${random.pick(small)})`,
    () => {
      const affix = random.pick(['STARTS_WITH', 'STARTS_WITH', 'ENDS_WITH']);
      const part = random.pick(['"f"', '""', '"F"', '"se"', '"\u{1f600}"', '"r"']);
      return `${ofType(writer, types, 'String', item)}::${affix}(${part})`;
    },
  ])();
}
