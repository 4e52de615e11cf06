// Nearest names: the distance against its definition, the name that is found against a search of
// all, and what the hints rely on: one slip of the hand is always seen through.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  didYouMean,
  editDistance,
  nearestName,
  rankedNames,
} from '../../engine/base/did-you-mean.js';
import { expectFigure } from '../support/run/figure.js';

const runs = process.env.TRELLIS_TEST_LONG === '1' ? 20_000 : 400;
const holds = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => void) =>
  fc.assert(fc.property(arbitrary, property), { numRuns: runs });

const letters = fc.constantFrom('a', 'b', 'c', 'D', '_');
const word = (min: number, max: number) =>
  fc.string({ unit: letters, minLength: min, maxLength: max });

/** The definition, prefix by prefix. */
function distanceOf(a: string, b: string): number {
  const known = new Map<string, number>();
  const of = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const key = `${i} ${j}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    const least = Math.min(
      of(i - 1, j) + 1,
      of(i, j - 1) + 1,
      of(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
      swap ? of(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
    );
    known.set(key, least);
    return least;
  };
  return of(a.length, b.length);
}

/** One slip: a letter too few, too many, another, or two swapped. */
const slip = fc
  .tuple(word(3, 12), fc.nat(), fc.nat(3), letters)
  .map(([name, place, kind, letter]) => {
    const at = place % name.length;
    const slipped = [
      name.slice(0, at) + name.slice(at + 1),
      name.slice(0, at) + letter + name.slice(at),
      name.slice(0, at) + letter + name.slice(at + 1),
      name.slice(0, at) + (name[at + 1] ?? '') + name[at] + name.slice(at + 2),
    ][kind]!;
    return { name, slipped };
  });

describe('edit distance', () => {
  test('is what its definition says, also when it may give up', () => {
    holds(fc.tuple(word(0, 8), word(0, 8), fc.integer({ min: 1, max: 9 })), ([a, b, most]) => {
      const distance = distanceOf(a, b);
      expect(editDistance(a, b)).toBe(distance);
      expect(editDistance(b, a)).toBe(distance);
      expect(editDistance(a, b, most)).toBe(Math.min(most, distance));
    });
  });
});

describe('the nearest name', () => {
  test('is the nearest of all, the first of equals, within a third of the letters, but not of one', () => {
    holds(fc.tuple(word(1, 9), fc.array(word(0, 9), { maxLength: 12 })), ([name, known]) => {
      const others = known.filter((each) => each !== name);
      const distances = others.map((each) => distanceOf(name.toLowerCase(), each.toLowerCase()));
      const least = Math.min(...distances);
      // Of a single letter nothing is left to recognise.
      const most = name.length === 1 ? 0 : Math.max(1, Math.floor(name.length / 3));
      const isNear = least <= most;
      expect(nearestName(name, known)).toBe(isNear ? others[distances.indexOf(least)] : undefined);
    });
  });

  test('sees through one slip of the hand, and through letter case', () => {
    holds(slip, ({ name, slipped }) => {
      if (slipped === '') return;
      const found = name === slipped ? undefined : name;
      expect(nearestName(slipped, [name])).toBe(found);
      expect(nearestName(name.toUpperCase(), [name.toLowerCase()])).toBe(
        name.toUpperCase() === name.toLowerCase() ? undefined : name.toLowerCase(),
      );
    });
  });

  test('is never the name itself, and never an unrelated name', () => {
    expect(nearestName('Note', ['Note'])).toBeUndefined();
    expect(nearestName('Note', ['Note', 'Notes'])).toBe('Notes');
    expect(nearestName('ab', ['xy', 'a_long_name'])).toBeUndefined();
    expect(didYouMean('hight', ['width', 'height'])).toBe('Did you mean `height`?');
    expect(didYouMean('hight', ['colour'], 'Declare it.')).toBe('Declare it.');
  });

  test('costs little however many and however long the names are', () => {
    const long = 'x'.repeat(100_000);
    const names = Array.from({ length: 100_000 }, (_, at) => `${'x'.repeat(40)}${at}`);
    const before = process.cpuUsage();
    expect(nearestName(long, names)).toBeUndefined();
    nearestName(`${'x'.repeat(39)}y12`, names);
    expect(rankedNames(long, names)).toHaveLength(1000);
    const { user, system } = process.cpuUsage(before);
    expectFigure((user + system) / 1000, 1_000, 'ms of CPU for names');
  });
});

test('ranking puts the nearest first and keeps the order of equals', () => {
  holds(fc.tuple(word(1, 6), fc.uniqueArray(word(1, 6), { maxLength: 10 })), ([name, known]) => {
    const ranked = rankedNames(name, known);
    const distance = (text: string) => distanceOf(name.toLowerCase(), text.toLowerCase());
    const stable = [...known].sort((a, b) => distance(a) - distance(b));
    expect(ranked).toEqual(stable);
  });
});
