// The text of an error: how arguments enter a message or a hint, and how an excerpt quotes the input.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorHint, excerpt } from '../../engine/base/errors.js';
import { visible } from '../../engine/base/text/visible.js';

const holds = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => void) =>
  fc.assert(fc.property(arbitrary, property), { numRuns: 500 });

describe('a hint', () => {
  test('has each argument in place of its name, and all other braces as they are', () => {
    const piece = fc.constantFrom('{', '}', 'a', 'name', '{name}', '{none}', '{gone}', '{0}', ' ');
    const args = { name: '{a}', a: 7, none: null };
    holds(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const hint = pieces.join('');
      const filled = hint.replace(/\{(\w+)\}/g, (whole, name: string) =>
        String((args as Record<string, unknown>)[name] ?? whole),
      );
      expect(errorHint({ code: 'NOT_FOUND', args, hint })).toBe(filled);
    });
  });
});

describe('an excerpt', () => {
  test('has the first 64 characters, with invisible ones escaped', () => {
    const character = fc.constantFrom('a', ' ', '~', '\u007f', '\u0000', '\u202e', 'ü', '😀', '"');
    holds(fc.array(character, { maxLength: 80 }), (characters) => {
      const start = characters.slice(0, 64).map(visible).join('');
      expect(excerpt(characters.join(''))).toBe(characters.length > 64 ? `${start}…` : start);
    });
  });
});
