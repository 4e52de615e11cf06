// Generates forms for the oracle's queries that depend on other forms. These are branches and first values of
// streams, distances and origins that steps add to items, names that projections bind, lists of written
// records, and paths in both directions.
import type { Random } from '../../random.js';
import type { Stream } from '../oracle-extension.js';
import type { WorldType } from '../oracle-schema.js';

interface Writer {
  readonly random: Random;
  readonly types: readonly WorldType[];
  readonly variables: readonly Stream[];
  name(prefix: string): string;
  type(name: string): WorldType;
  parameter(type: string, element?: string): string;
  properties(types: readonly string[]): string[];
  source(): Stream;
  chain(steps: number): Stream;
  condition(types: readonly string[], depth: number, item?: string): string;
  arithmetic(types: readonly string[], depth: number, item?: string): string;
  graphStep(stream: Stream): Stream | undefined;
}

/** One of two streams, by a condition or because the other is not there. */
export function branched(writer: Writer): Stream {
  const { random } = writer;
  const lists = [writer.chain(2), writer.chain(2)];
  const [a, b] = lists.map(({ text, many }) => (many ? text : `${text}::RANGE(0, 9)`));
  const [first, second] = lists as [Stream, Stream];
  const far = first.reached && second.reached && [...first.reached, ...second.reached];
  const types = [...new Set([...first.types, ...second.types])];
  const made = (text: string, many = true): Stream => ({
    text,
    types,
    many,
    ...((first.hops ?? second.hops) && ({ hops: true } as const)),
    ...(far && { reached: far }),
  });
  const asked = random.pick([
    () => writer.parameter('Boolean'),
    () => `EXISTS(${a})`,
    () => `COUNT(${b})::GT(${random.below(3)})`,
  ])();
  return random.pick([
    () => made(`IF(${asked}, ${a}, ${b})`),
    () => made(`IF(${asked}, ${a})`),
    () => made(`IF(${asked}, ${a}::FIRST, ${b}::FIRST)`, false),
    () => made(`COALESCE(${a}::FIRST, ${b}::FIRST)`, false),
  ])();
}

/** A step that reads what a walk has left on the items; undefined where none has. */
export function readTrail(writer: Writer, stream: Stream): Stream | undefined {
  const { random } = writer;
  const { text, hops, reached } = stream;
  if (reached !== undefined && random.chance(0.5)) {
    return { text: `${text}::Other`, types: [...new Set(reached)], many: stream.many };
  }
  if (!hops || random.chance(0.5)) return undefined;
  const operator = random.pick(['EQ', 'GT', 'GTE', 'LT', 'LTE', 'NEQ']);
  const step = random.pick([
    `WHERE(_::{hops}::${operator}(${random.below(4)}))`,
    `WHERE(_::{hops}::${operator}(${writer.parameter('U8')}))`,
    `WHERE(AND(_::{hops}::GTE(1), _::{hops}::${operator}(2)))`,
    `ORDER<${random.pick(['Asc', 'Desc'])}>(_::{hops})`,
    'DEDUP(_::{hops})',
  ]);
  const many = stream.many || !step.startsWith('WHERE');
  return { ...stream, text: `${text}::${step}`, many };
}

/** What may be answered of distances. */
export function trailAnswer({ random }: Writer, { text, many }: Stream): string {
  const groups = ['GROUP_BY(hops)', 'GROUP_BY(hops)::{hops, n: count, ids: _.data::ID}'];
  const shapes = ['{hops}', '{id, far: hops}', '{.., far: hops}'];
  return `${text}::${random.pick(many ? [...shapes, ...groups] : shapes)}`;
}

/** A projection with names for its members and for the steps after it. */
export function bound(writer: Writer, { text, types, many }: Stream): string {
  const { random } = writer;
  const [a, b, c] = [writer.name('b'), writer.name('b'), writer.name('b')];
  const step = writer.graphStep({ text: '_', types, many: false });
  const list = step?.many ? step : undefined;
  const names = list ? writer.properties(list.types) : [];
  const members = [
    `${a} <- ${list?.text ?? writer.arithmetic(types, 1)}`,
    `${b} <- ${list ? `${a}::COUNT` : a}`,
    `x: ${b}`,
    ...(list ? [`all: ${a}::ID`, `some: ${a}::RANGE(0, 2)::{${names[0] ?? 'id'}}`] : []),
    ...(random.chance(0.5) ? [`${c} <- IF(${writer.condition(types, 1)}, ${b})`, `y: ${c}`] : []),
    ...(random.chance(0.5) ? [`inner: { again: ${b}, id: ${b} }`] : []),
  ];
  const shape = `${text}::{${members.join(', ')}}`;
  if (!many) return shape;
  return random.pick([
    shape,
    `${shape}::ORDER<Desc>(_::{${b}})::RANGE(0, 3)`,
    `${shape}::WHERE(_::{${b}}::GT(1))`,
    `${shape}::COUNT`,
  ]);
}

/** Steps over a list of records as they stand in the source. */
export function written(writer: Writer): string {
  const { random } = writer;
  const record = (): string => {
    const parts = [`a: ${writer.arithmetic([], 0)}`, `b: ${random.pick(['"x"', '"y"'])}`];
    return `{${random
      .some(parts, 0.8)
      .concat(`c: ${random.below(3)}`)
      .join(', ')}}`;
  };
  const lists = Array.from({ length: 1 + random.below(3) }, () => {
    return `[${Array.from({ length: 1 + random.below(3) }, record).join(', ')}]`;
  });
  const rows = `${random.pick(['UNION', 'EXCEPT', 'INTERSECT'])}(${lists.join(', ')})`;
  return random.pick([
    `${rows}::WHERE(_::{c}::GT(${random.below(2)}))`,
    `${rows}::ORDER<${random.pick(['Asc', 'Desc NULLS FIRST'])}>(_::{c})`,
    `${rows}::{c, d: MUL(_::{c}, 2)}`,
    `${rows}::GROUP_BY(c)`,
    `SUM(${rows}::{c})`,
  ]);
}

/** The length of a path in either direction, or -1. */
export function pathLength(writer: Writer): string {
  const { random, types } = writer;
  const edge = random.pick(types.filter(({ kind, from, to }) => kind === 'E' && from === to));
  const { kind, name } = writer.type(edge.from!);
  const one = () => `${kind}<${name}>(${writer.parameter('ID', name)})`;
  const test = random.chance(0.5) ? `(${writer.condition([edge.name], 0)})` : '';
  const end = random.pick(['Both', 'Both', 'To', 'From']);
  const path = `${one()}::ShortestPath<${edge.name}>${test}::${end}(${one()})`;
  return random.pick([`COALESCE(${path}::{hop_count}, -1)`, `COALESCE(${path})`]);
}

/** Steps over the members of a shape. */
export function shaped(writer: Writer, { text, types }: Stream): string {
  const { random } = writer;
  const [a, b] = [writer.name('m'), writer.name('m')];
  const shape = `${text}::{${a}: ${writer.arithmetic(types, 1)}, ${b}: _::ID, ..}`;
  return random.pick([
    `${shape}::ORDER<Asc>(_::{${a}})::RANGE(0, 3)`,
    `${shape}::WHERE(_::{${a}}::GT(${random.below(4)}))`,
    `${shape}::WHERE(_::{${a}}::NEQ(NONE))::FIRST`,
    `${shape}::{${b}, again: ${a}}`,
    `${shape}::COUNT`,
  ]);
}
