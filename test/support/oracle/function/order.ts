// Random orders, pages and groups for the oracle's queries: one key or several, nulls first or last;
// shapes of groups.
import { propertyTypes } from '../oracle-schema.js';
import type { Random } from '../../random.js';

interface Writer {
  readonly random: Random;
  properties(types: readonly string[]): string[];
  orderKey(types: readonly string[]): string;
}

interface Reader extends Writer {
  members(types: readonly string[], depth: number): string;
  condition(types: readonly string[], depth: number): string;
  graphStep(stream: {
    text: string;
    types: readonly string[];
    many: boolean;
  }): { text: string } | undefined;
}

export function orderStep(writer: Writer, types: readonly string[]): string {
  const { random } = writer;
  const direction = () => {
    const place = random.pick(['', '', ' NULLS FIRST', ' NULLS LAST']);
    return random.pick(['Asc', 'Desc']) + place;
  };
  const count = random.chance(0.5) ? 1 : 2 + random.below(2);
  const times = (make: () => string, n: number) => Array.from({ length: n }, make).join(', ');
  const directions = times(direction, random.chance(0.3) ? 1 : count);
  return `ORDER<${directions}>(${times(() => writer.orderKey(types), count)})`;
}

const numbers = /^[IU]\d+$/;

/** Groups shaped by their keys, counts, and what is known of their items, which may have a shape themselves. */
export function shapedGroups(
  reader: Reader,
  text: string,
  types: readonly string[],
  keys: string,
): string {
  const { random } = reader;
  if (random.chance(0.5)) return `${text}::${groupShape(reader, types, keys, [])}`;
  const graph = reader.graphStep({ text: '_', types, many: false });
  const members = [
    `w1: ${reader.condition(types, 1)}`,
    ...(graph ? [`w2: ${graph.text}::ID`] : []),
  ];
  const more = ['d: _.data', 'w: _::{w1}', 'i: _.data::WHERE(_::{w1})::{id, w1}'];
  if (graph) more.push('g: _::{w2}', `o: _.data${graph.text.slice(1)}::ID`);
  const groups = groupShape(reader, types, keys, random.some(more, 0.5));
  return `${text}::{${keys}, ${members.join(', ')}}::${groups}`;
}

function groupShape(
  writer: Writer,
  types: readonly string[],
  keys: string,
  more: readonly string[],
): string {
  const { random } = writer;
  const names = writer.properties(types).filter((name) => !propertyTypes[name]!.startsWith('['));
  const integers = names.filter((name) => numbers.test(propertyTypes[name]!));
  const parts = ['c1: count', 'c2: COUNT(_.data)', ...more];
  if (integers.length > 0) parts.push(`s: SUM(_::{${random.pick(integers)}})`);
  if (names.length > 0) {
    const name = random.pick(names);
    parts.push(`all: _::{${name}}`, `top: _.data::ORDER<Desc>(_::{${name}})::FIRST::ID`);
  }
  const step = random.pick(['GROUP_BY', 'GROUP_BY', 'AGGREGATE_BY']);
  const filter = random.chance(0.3) ? '::WHERE(COUNT(_.data)::GT(1))' : '';
  return `${step}(${keys})${filter}::{${keys}, ${parts.join(', ')}}`;
}

/** The first page of a stream, shaped or not, and whether it is the last. */
export function paged(reader: Reader, stream: { text: string; types: readonly string[] }): string {
  const { random } = reader;
  const { text, types } = stream;
  const order = random.chance(0.7) ? `::${orderStep(reader, types)}` : '';
  const shape = random.pick(['', '', `::{${reader.members(types, 1)}}`]);
  const test = random.chance(0.2) ? `::WHERE(${reader.condition(types, 1)})` : '';
  const end = random.pick(['::{items}', '::{items, last: _::{next}::EQ(NONE)}']);
  return `${text}${order}${shape}${test}::PAGE(${random.pick(['1', '2', '5', '99'])})${end}`;
}
