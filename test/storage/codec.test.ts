// Property tests of the byte formats: what is written reads back equal, and index keys order as
// their values do.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../engine/base/bytes.js';
import { toInstant } from '../../engine/base/date.js';
import { toFloat32 } from '../../engine/base/float.js';
import { printUuid } from '../../engine/base/id.js';
import { compactInteger, integerFits, integerRange } from '../../engine/base/integer.js';
import { defaultLimits } from '../../engine/base/limits.js';
import type { ScalarName } from '../../engine/base/schema.js';
import { type Scalar, type ScalarList, Uuid, compareValues } from '../../engine/base/value.js';
import { printScalar, printValue, readFragment } from '../../engine/storage/record/fragment.js';
import { writeOrdered } from '../../engine/storage/index/ordered-encoding.js';
import { encodeRecord, headOf } from '../../engine/storage/record/record-writer.js';
import {
  decodeProperty,
  fragmentOf,
  fromOf,
  kindOf,
  labelOf,
  toOf,
} from '../../engine/storage/record/record.js';
import type { StoredProperty } from '../../engine/storage/table/view-types.js';
import { encodeVector, storedVector } from '../../engine/storage/record/vector-record.js';
import { properties, typeNamed } from './support/declare.js';

const runs = process.env.TRELLIS_TEST_LONG === '1' ? 5_000 : 100;
const numRuns = { numRuns: runs };

/** Any text, from any code points. The unit `binary` of fast-check would first make a map of all of them. */
const codePoint = fc.nat({ max: 0x10_ffff }).filter((value) => value < 0xd800 || value > 0xdfff);
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.array(codePoint, { maxLength: 12 }).map((values) => String.fromCodePoint(...values)),
);
const double = fc.double({ noNaN: true, noDefaultInfinity: true });
const integer = (name: ScalarName) =>
  fc.bigInt(integerRange[name]!.min, integerRange[name]!.max).map(compactInteger);
const uuid = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => new Uuid(printUuid(bytes)));
const date = fc
  .tuple(
    fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
    fc.integer({ min: 0, max: 999_999 }),
  )
  .map(([seconds, micros]) => toInstant(seconds, micros)!);

/** Values of every property type. */
const samples: Record<string, fc.Arbitrary<Scalar | ScalarList>> = {
  String: text,
  Boolean: fc.boolean(),
  F64: double,
  F32: fc.float({ noNaN: true, noDefaultInfinity: true }).map(toFloat32),
  Date: date,
  ID: uuid,
  ...Object.fromEntries(
    Object.keys(integerRange).map((name) => [name, integer(name as ScalarName)]),
  ),
  '[String]': fc.array(text, { maxLength: 4 }),
  '[U128]': fc.array(integer('U128'), { maxLength: 4 }),
  '[Date]': fc.array(date, { maxLength: 3 }),
  '[F64]': fc.array(double, { maxLength: 4 }).map((numbers) => Float64Array.from(numbers)),
  '[[I32]]': fc.array(fc.array(integer('I32'), { maxLength: 3 }), { maxLength: 3 }),
  '[[String]]': fc.array(fc.array(text, { maxLength: 3 }), { maxLength: 3 }),
};

const print = (value: Scalar | ScalarList, type: string): Uint8Array => {
  const writer = new ByteWriter(8);
  printValue(writer, value, typeNamed(type));
  return writer.take();
};

const ordered = (value: Scalar | ScalarList, type: string): Uint8Array => {
  const writer = new ByteWriter(8);
  writeOrdered(writer, value, typeNamed(type));
  return writer.take();
};

describe.each(Object.entries(samples))('%s', (type, sample) => {
  it('reads back what it prints, and prints JSON', () => {
    fc.assert(
      fc.property(sample, (value) => {
        const bytes = print(value, type);
        expect(() => JSON.parse(Buffer.from(bytes).toString())).not.toThrow();
        const back = readFragment(bytes, 0, bytes.length, typeNamed(type));
        expect(compareValues(back, value)).toBe(0);
        expect(Buffer.from(print(back, type))).toEqual(Buffer.from(bytes));
      }),
      numRuns,
    );
  });

  it('has index keys in the order of its values', () => {
    fc.assert(
      fc.property(sample, sample, (a, b) => {
        const order = Math.sign(Buffer.compare(ordered(a, type), ordered(b, type)));
        expect(order).toBe(Math.sign(compareValues(a, b)));
      }),
      numRuns,
    );
  });

  it('has keys that sort by value before their suffix', () => {
    fc.assert(
      fc.property(sample, sample, fc.uint8Array({ minLength: 4, maxLength: 4 }), (a, b, id) => {
        fc.pre(compareValues(a, b) < 0);
        const longer = Buffer.concat([ordered(a, type), id]);
        expect(Buffer.compare(longer, ordered(b, type))).toBe(-1);
      }),
      numRuns,
    );
  });
});

describe.each(Object.keys(integerRange) as ScalarName[])('a whole number as %s', (name) => {
  const { min, max } = integerRange[name]!;
  const edges = [min, max, 0n, 2n ** 31n, 2n ** 32n, 2n ** 53n].map(Number);
  const near = fc.tuple(fc.constantFrom(...edges), fc.integer({ min: -2, max: 2 }));
  const whole = fc.oneof(
    near.map(([edge, by]) => edge + by),
    fc.maxSafeInteger(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(Math.trunc),
  );

  it('fits when the same bigint does, and then has its key and digits', () => {
    fc.assert(
      fc.property(whole, (value) => {
        const exact = BigInt(value);
        expect(integerFits(value, name)).toBe(exact >= min && exact <= max);
        if (!integerFits(value, name)) return;
        expect(ordered(value, name)).toEqual(ordered(exact, name));
        if (!Number.isSafeInteger(value)) return;
        expect(Buffer.from(print(value, name)).toString()).toBe(exact.toString());
      }),
      { numRuns: 4 * runs },
    );
  });

  it('does not fit when it is endless or no number', () => {
    const strange = [Infinity, -Infinity, NaN];
    expect(strange.filter((value) => integerFits(value, name))).toEqual([]);
  });
});

describe('index keys of near values', () => {
  const rows: [string, (Scalar | ScalarList)[]][] = [
    [
      'String',
      [
        '',
        '\0',
        '\0\0',
        '\0\u0001',
        '\u0001',
        'a',
        'a\0',
        'a\0b',
        'aa',
        'b',
        '\ud7ff',
        '\ue000',
        '\uffff',
        '😀',
      ],
    ],
    [
      'F64',
      [
        -Number.MAX_VALUE,
        -1.5,
        -1,
        -Number.MIN_VALUE,
        0,
        Number.MIN_VALUE,
        1,
        1.5,
        Number.MAX_VALUE,
      ],
    ],
    ['I64', [-(2n ** 63n), -(2 ** 53) + 1, -1, 0, 1, 2 ** 53 - 1, 2n ** 53n + 1n, 2n ** 63n - 1n]],
    ['U128', [0, 255, 256, 2n ** 64n - 1n, 2n ** 64n, 2n ** 128n - 1n]],
    ['[String]', [[], [''], ['', ''], ['\0'], ['a'], ['a', 'a'], ['a\0'], ['b']]],
  ];
  it.each(rows)('%s', (type, values) => {
    const keys = values.map((value) => Buffer.from(ordered(value, type)));
    expect([...keys].sort(Buffer.compare)).toEqual(keys);
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(keys.length);
  });

  it('has one key for both zeros', () => {
    expect(ordered(-0, 'F64')).toEqual(ordered(0, 'F64'));
    expect(Buffer.from(print(-0, 'F64')).toString()).toBe('0');
  });
});

describe('printing', () => {
  it.each([
    ['F32', 0.10000000149011612, '0.1'],
    ['F32', 16777217, '16777216'],
    ['F64', 2, '2'],
    ['F64', 1e21, '1e+21'],
    ['U128', 2n ** 128n - 1n, '340282366920938463463374607431768211455'],
    ['String', 'a"b\\c\n\u2028é', '"a\\"b\\\\c\\n\u2028é"'],
    ['String', '\ud800', '"\\ud800"'],
    ['Date', toInstant(1_772_352_000, 120_000)!, '"2026-03-01T08:00:00.120+00:00"'],
  ] as [string, Scalar, string][])('%s %s', (type, value, expected) => {
    expect(Buffer.from(print(value, type)).toString()).toBe(expected);
  });

  it('prints null and Booleans', () => {
    const writer = new ByteWriter(4);
    printScalar(writer, null);
    printScalar(writer, true);
    expect(Buffer.from(writer.take()).toString()).toBe('nulltrue');
  });
});

const stored = (texts: Record<string, string>): StoredProperty[] =>
  properties(texts).map((property, slot) => ({ ...property, slot, indexId: 0 }));

describe('records', () => {
  const declared = stored(
    Object.fromEntries(Object.keys(samples).map((type, i) => [`p${i}`, type])),
  );
  const row = fc.tuple(...Object.values(samples).map((sample) => fc.option(sample)));
  const head = fc.record({
    label: fc.integer({ min: 1, max: 65_534 }),
    uuid: fc.uint8Array({ minLength: 16, maxLength: 16 }),
    isEdge: fc.boolean(),
    from: fc.integer({ min: 1, max: 0xfffffffe }),
    to: fc.integer({ min: 1, max: 0xfffffffe }),
  });

  it('give back head and values', () => {
    fc.assert(
      fc.property(head, row, ({ label, uuid, isEdge, from, to }, values) => {
        const ends = { from, to, fromUuid: uuid, toUuid: Uint8Array.from(uuid).reverse() };
        const given = {
          label,
          kind: isEdge ? 'edge' : 'vector',
          uuid,
          ...(isEdge && { ends }),
        } as const;
        const map = new Map(values.map((value, i) => [`p${i}`, value as Scalar]));
        const record = encodeRecord(given, declared, map, defaultLimits);
        expect([labelOf(record), kindOf(record)]).toEqual([label, given.kind]);
        expect(headOf(record)).toEqual(given);
        if (isEdge) expect([fromOf(record), toOf(record)]).toEqual([from, to]);
        for (const [i, property] of declared.entries()) {
          const back = decodeProperty(record, property);
          if (values[i] === null) expect(back).toBeNull();
          else expect(compareValues(back, values[i])).toBe(0);
        }
      }),
      { numRuns: Math.ceil(runs / 4) },
    );
  });

  const plain = { label: 7, kind: 'node', uuid: new Uint8Array(16) } as const;

  it('keep the fragments of slots that are not declared', () => {
    const [a, b] = stored({ a: 'String', b: 'U8' });
    const record = encodeRecord(
      plain,
      [a!, b!],
      new Map<string, Scalar>([
        ['a', 'x'],
        ['b', 5],
      ]),
      defaultLimits,
    );
    const updated = encodeRecord(plain, [a!], new Map([['a', 'yy']]), defaultLimits, record);
    expect([decodeProperty(updated, a!), decodeProperty(updated, b!)]).toEqual(['yy', 5]);
    expect(fragmentOf(updated, 9)).toEqual({ start: 0, end: 0 });
  });

  it.each([
    [{ value_bytes: 10, element_bytes: 1000 }, 'x'.repeat(10), undefined],
    [{ value_bytes: 10, element_bytes: 1000 }, '"'.repeat(10), undefined],
    [{ value_bytes: 10, element_bytes: 1000 }, 'é'.repeat(6), 'VALUE_TOO_LARGE'],
    [{ value_bytes: 1000, element_bytes: 40 }, 'x'.repeat(11), 'VALUE_TOO_LARGE'],
  ])('are bounded by %j for %s', (limits, value, code) => {
    const make = () =>
      encodeRecord(plain, stored({ a: 'String' }), new Map([['a', value]]), limits);
    if (code === undefined) expect(make).not.toThrow();
    else expect(make).toThrowError(expect.objectContaining({ code }));
  });
});

describe('vectors', () => {
  it('keep doubles exactly and round floats one time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        (numbers) => {
          const given = Float64Array.from(numbers);
          expect(storedVector(given, 'f32')).toEqual(given);
          expect(encodeVector(given, 'f64').length).toBe(given.length * 8 + 1);
          expect(encodeVector(given, 'f32').length).toBe(given.length * 4 + 1);
        },
      ),
    );
    expect(storedVector(Float64Array.of(0.1), 'f32')[0]).toBe(Math.fround(0.1));
    expect(storedVector(Float64Array.of(0.1), 'f64')[0]).toBe(0.1);
  });
});
