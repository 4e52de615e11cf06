// Groups elements by the values of one property, each group with an index in the palette. The most frequent
// values are groups; many numbers become ranges with equally many elements. Pure.
import { printValue } from './lossless-json.js';
import type { Item } from './item.js';
import { shortened } from './short-text.js';

export interface ColourGroup {
  name: string;
  count: number;
  /** Index in the palette; undefined for all other values, which are gray. */
  paletteIndex: number | undefined;
}

export interface ColourGroups {
  groups: ColourGroup[];
  paletteIndexOf: (item: Item) => number | undefined;
}

/** The last color of the palette is the gray of all other values. */
const groupsMax = 11;
const rangesMax = 6;
const nameMax = 32;

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const nameOf = (value: unknown): string => shortened(printValue(value), nameMax);

export function groupsBy(items: readonly Item[], property: string): ColourGroups {
  const values = items
    .map((item) => item[property])
    .filter((one) => one !== undefined && one !== null);
  const counts = new Map<string, number>();
  for (const value of values) counts.set(nameOf(value), (counts.get(nameOf(value)) ?? 0) + 1);
  if (counts.size > groupsMax && values.every(isNumber)) {
    return byRange(items.length, values.map(Number), property);
  }
  const order = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const named = order
    .slice(0, groupsMax)
    .map(([name, count], paletteIndex) => ({ name, count, paletteIndex }));
  const paletteIndexes = new Map(named.map(({ name, paletteIndex }) => [name, paletteIndex]));
  return {
    groups: withRest(named, items.length),
    paletteIndexOf: ({ [property]: value }) =>
      value === undefined || value === null ? undefined : paletteIndexes.get(nameOf(value)),
  };
}

/** Elements that are in no group. */
function withRest(groups: ColourGroup[], all: number): ColourGroup[] {
  const rest = all - groups.reduce((sum, { count }) => sum + count, 0);
  return rest === 0
    ? groups
    : [...groups, { name: 'others', count: rest, paletteIndex: undefined }];
}

function byRange(all: number, values: number[], property: string): ColourGroups {
  const sorted = values.toSorted((a, b) => a - b);
  const cuts = Array.from(
    { length: rangesMax },
    (_, at) => sorted[Math.floor((at * sorted.length) / rangesMax)]!,
  );
  const starts = [...new Set(cuts)];
  const rangeIndexOf = (value: number): number => starts.findLastIndex((start) => value >= start);
  const groups = starts.map((start, paletteIndex): ColourGroup => {
    const inside = sorted.filter((value) => rangeIndexOf(value) === paletteIndex);
    return { name: `${start} – ${inside.at(-1)}`, count: inside.length, paletteIndex };
  });
  return {
    groups: withRest(groups, all),
    paletteIndexOf: ({ [property]: value }) =>
      isNumber(value) ? rangeIndexOf(Number(value)) : undefined,
  };
}
