// Random orders for the oracle's queries: one key or several, nulls first or last.
import type { Random } from '../../random.js';

interface Writer {
  readonly random: Random;
  orderKey(types: readonly string[]): string;
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
