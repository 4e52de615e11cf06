// Random forms of the extensions for the oracle: sets and fusions of streams.
import type { Random } from '../random.js';

/** Elements of some types; `many` unless one row at most. */
export interface Stream {
  text: string;
  types: readonly string[];
  many: boolean;
}

/** Who writes the parts of a form. */
interface Writer {
  readonly random: Random;
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
