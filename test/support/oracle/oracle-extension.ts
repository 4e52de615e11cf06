// Random forms of the extensions for the oracle: sets and fusions of streams.
import type { Random } from '../random.js';

/** Elements of some types; `many` unless one row at most. */
export interface Stream {
  text: string;
  types: readonly string[];
  many: boolean;
  /** A repetition has left its distances. */
  hops?: true;
  /** Edges that a step came to: what is at their other ends. */
  reached?: readonly string[];
}

/** Who writes the parts of a form. */
interface Writer {
  readonly random: Random;
  parameter(type: string): string;
  source(): Stream;
  condition(types: readonly string[], depth: number): string;
  vectorSearch(name: string, mayFilter: boolean): string;
}

/** Several streams as one: a set, or ranked lists fused. */
export function together(writer: Writer, isSet: boolean): Stream {
  const { random } = writer;
  const lists = Array.from({ length: 1 + random.below(3) }, () => writer.source());
  const types = [...new Set(lists.flatMap((list) => list.types))];
  const texts = lists.map(({ text }) => text).join(', ');
  if (isSet) {
    const operation = random.pick(['UNION', 'UNION', 'EXCEPT', 'INTERSECT']);
    return { text: `${operation}(${texts})`, types, many: true };
  }
  const k = random.chance(0.5) ? '' : `, k: ${random.pick(['0', '1', '60.5', '-1'])}`;
  const given = (count: number): string => {
    const weights = Array.from({ length: count }, () => random.pick(['0', '1', '2.5']));
    return random.chance(0.4) ? `, weights: [${weights.join(', ')}]` : '';
  };
  if (random.chance(0.6))
    return { text: `RerankRRF(${texts}${k}${given(lists.length)})`, types, many: true };
  const searches = [0, 1].map(() => writer.vectorSearch('Vine', false)).join(', ');
  const filter = random.chance(0.5) ? `::PREFILTER(${writer.condition(['Vine'], 1)})` : '';
  const text = `RerankRRF(${searches}${k}${given(2)})${filter}`;
  return { text, types: ['Vine'], many: true };
}

/** Steps in either direction, with conditions, repeated, along one edge type from elements of a type. */
export function walks(
  writer: Writer,
  edge: { name: string; from: string; to: string },
  type: string,
): Stream[] {
  const { random } = writer;
  const { name } = edge;
  const test = random.chance(0.5) ? `(${writer.condition([name], 0)})` : '';
  const far = [
    ...(edge.from === type ? [{ way: 'Out', types: [edge.to] }] : []),
    ...(edge.to === type ? [{ way: 'In', types: [edge.from] }] : []),
  ];
  if (far.length === 0) return [];
  const types = [...new Set(far.flatMap((each) => each.types))];
  const one = random.pick([...far, { way: 'Both', types }]);
  const again = edge.from === edge.to || one.way === 'Both';
  const bounds = random.chance(0.15)
    ? `{${random.below(2)}, ${writer.parameter('U8')}}`
    : random.pick(['{1, 3}', '{0, 2}', '{2}', '{1, *}', '{0, *}', '{3, 1}', '{1}']);
  const repeated = [...new Set([...one.types, type, ...(again ? [edge.from, edge.to] : [])])];
  const step = `${one.way}<${name}>${test}`;
  const made = (text: string, of: readonly string[]): Stream => ({ text, types: of, many: true });
  return [
    random.pick([
      () => made(step, one.types),
      () => ({ ...made(`${step}${bounds}`, repeated), hops: true as const }),
      () => ({ ...made(`${one.way}E<${name}>${test}`, [name]), reached: one.types }),
      () => made(`${one.way}E<${name}>::WHERE(${writer.condition([name], 0)})::Other`, one.types),
    ])(),
  ];
}
