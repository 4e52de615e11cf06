// Json texts [HT05]: reading parts of a text finds what a parser of the whole finds, for random values, names
// and white space; numbers and names of any kind survive.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compactJson,
  Json,
  type JsonPart,
  jsonAt,
  readJson,
  scalarOfJson,
  splitPath,
} from '../../../engine/base/text/json.js';

/** Values in memory as JSON.parse gives them. */
function plain(part: JsonPart): unknown {
  if (part instanceof Map)
    return Object.fromEntries([...part].map(([name, value]) => [name, plain(value)]));
  if (typeof part === 'bigint') return Number(part);
  return Array.isArray(part) ? part.map(plain) : part;
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, of]) => [name, sorted(of)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
};

const values = fc.jsonValue({ maxDepth: 4, noUnicodeString: false });

/** Paths to all parts of a value. */
function* pathsOf(value: unknown, path: string[] = []): Generator<[string[], unknown]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, of] of Object.entries(value)) yield* pathsOf(of, [...path, name]);
}

describe('HT05 a Json text', () => {
  it('has no white space between its tokens, and nothing else changes', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, ' ', '\t', '   '), (value, space) => {
        const compact = compactJson(JSON.stringify(value, undefined, space));
        expect(compact).toBe(JSON.stringify(value));
      }),
    );
  });
  it('is read as a parser reads it', () => {
    fc.assert(
      fc.property(values, (value) => {
        const read = readJson(new Json(JSON.stringify(value)));
        expect(plain(read)).toEqual(sorted(value));
      }),
    );
  });
  it('has the part at every path', () => {
    fc.assert(
      fc.property(values, (value) => {
        const json = new Json(JSON.stringify(value));
        for (const [path, part] of pathsOf(value))
          expect(jsonAt(json, path)?.text ?? 'null').toBe(JSON.stringify(part));
      }),
    );
  });
  it.each([
    ['{"__proto__":{"a":1},"constructor":2}', ['__proto__', 'a'], '1'],
    ['{"constructor":2}', ['toString'], undefined],
    ['{"a\\u0062":1}', ['ab'], '1'],
    ['{"":{"x":1}}', ['x'], undefined],
    ['{"a":[1,{"b":"}"}]}', ['a', '1', 'b'], '"}"'],
    ['{"a":"]","b":2}', ['b'], '2'],
    ['{"n":1.0}', ['n'], '1.0'],
    ['{"n":-0}', ['n'], '-0'],
    ['[1,2]', ['2'], undefined],
    ['[1,2]', ['-1'], undefined],
    ['"text"', ['0'], undefined],
    ['{}', ['a'], undefined],
    ['[]', ['0'], undefined],
    ['{"a":null}', ['a'], undefined],
  ])('%s at %j', (text, path, part) => {
    expect(jsonAt(new Json(text), path)?.text).toBe(part);
  });
  it('gives integers exactly, and other numbers as floats', () => {
    expect(scalarOfJson(new Json('123456789012345678901234567890'))).toBe(
      123456789012345678901234567890n,
    );
    expect(scalarOfJson(new Json('-9007199254740993'))).toBe(-9007199254740993n);
    expect(scalarOfJson(new Json('1.0'))).toBe(1);
    expect(scalarOfJson(new Json('1e2'))).toBe(100);
    expect(scalarOfJson(new Json('{"a":1}'))).toEqual(new Json('{"a":1}'));
  });
  it('splits paths at dots that are not escaped', () => {
    expect(splitPath('a.b.0')).toEqual(['a', 'b', '0']);
    expect(splitPath('a\\.b.c')).toEqual(['a.b', 'c']);
    for (const path of ['', '.', 'a.', '.a', 'a..b']) expect(splitPath(path)).toBeUndefined();
  });
});
