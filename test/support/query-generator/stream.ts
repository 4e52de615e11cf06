// What streams of elements are made of: their type and text, elements of some types, lists of what may
// be one, types of several together.
import { fail } from '../../../engine/base/errors.js';
import { Item, type Value, rowsOf } from '../oracle/oracle-value.js';
import type { Elements, Env, Scope } from './part.js';
import type { ElementType } from './type.js';

/** A miss is an error, but for items, and where it is asked for, it is null. */
export const missing = (env: Env): null =>
  (env.item === undefined || env.strict) && !env.lenient
    ? fail('NO_VALUE_FOUND', { what: 'an element' })
    : null;

export const stream = (
  text: string,
  type: Omit<ElementType, 'kind'>,
  of: Elements['of'],
): Elements => ({
  text,
  type: { kind: 'element', ...type },
  of,
});

export const ofLabels = (
  env: { graph: { elements: readonly { alive: boolean; type: { name: string } }[] } },
  of: readonly string[],
) =>
  env.graph.elements.filter(
    ({ alive, type }) => alive && of.includes(type.name),
  ) as never as Item['element'][];

export const united = (parts: readonly Elements[]): Omit<ElementType, 'kind' | 'card'> => {
  const reached =
    parts.every(({ type }) => type.reached) && parts.flatMap(({ type }) => type.reached!);
  return {
    labels: [...new Set(parts.flatMap(({ type }) => type.labels))],
    ...(parts.some(({ type }) => type.hops) && { hops: true as const }),
    ...(parts.some(({ type }) => type.score) && { score: true as const }),
    ...(reached && { reached: [...new Set(reached)] }),
  };
};

/** An item without the shape that a projection gave it, with the values that it had when it was found. */
export const bare = (row: Value): Item => {
  const item = row as Item;
  const { element, score, distance, reranked, share, trail, values, vector, fresh } = item;
  const plain = new Item(element, score, distance, reranked, share, trail);
  return Object.assign(plain, { values, vector, fresh });
};

/** A list, even where one element may be all. */
export function many(part: Elements): Elements {
  if (part.type.card === 'many') return part;
  return stream(`${part.text}::RANGE(0, 9)`, { ...part.type, card: 'many' }, (env) =>
    rowsOf(part.of(env)),
  );
}

export const itemScope = (
  scope: Scope,
  of: readonly string[],
  rest: Partial<ElementType> = {},
): Scope => ({
  names: scope.names,
  item: { kind: 'element', card: 'one', labels: of, ...rest },
});
