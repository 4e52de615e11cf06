// The scanner against a table of hostile bodies and against JSON.parse on random ones.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { scanJson } from '../../engine/json/scan.js';
import type { JsonView } from '../../engine/json/view.js';
import { expectFigure } from '../support/run/figure.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/**
 * The plain value behind a view; members in a Map, so that `__proto__` is a name like any other.
 */
function plain(view: JsonView): unknown {
  switch (view.kind) {
    case 'null':
      return null;
    case 'boolean':
      return view.boolean();
    case 'number':
      return view.float();
    case 'string':
      return view.text();
    case 'array':
      return Array.from({ length: view.length }, (_, i) => plain(view.at(i)));
    case 'object':
      return new Map(view.names().map((name) => [name, plain(view.member(name)!)]));
  }
}

function mapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapped);
  if (value === null || typeof value !== 'object') return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, mapped(member)]));
}

function faultOf(body: Uint8Array, limits = defaultLimits): { code: string } & object {
  try {
    scanJson(body, limits);
  } catch (error) {
    if (error instanceof TrellisError) return error.data;
    throw error;
  }
  return { code: 'none' };
}

describe('scanJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.integer({ min: 0, max: 2 }),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          expect(plain(scanJson(bytesOf(text), defaultLimits))).toEqual(mapped(JSON.parse(text)));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('finds no member in a null, independently of earlier reads', () => {
    const before = [
      '"a"',
      '1',
      '[1, 2]',
      '{"a": {"b": 1}, "c": [1.5e9]}',
      '"\\u00e9 and more"',
      '-7e-7',
    ];
    for (const text of before) {
      for (const look of [text, '{"x": null}']) {
        scanJson(bytesOf(text), defaultLimits);
        const root = scanJson(bytesOf(look === text ? 'null' : look), defaultLimits);
        const none = look === text ? root : root.member('x')!;
        const started = performance.now();
        expect([none.kind, none.names(), none.member('a')]).toEqual(['null', [], undefined]);
        expectFigure(performance.now() - started, 100, 'ms for a body after another');
      }
    }
  });

  it('accepts and refuses the same texts as JSON.parse', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '"b"',
        '""',
        '"\\n"',
        '"\\u00e9"',
        '"é𝄞"',
        '"\\x"',
        '"',
      ],
      ...[
        '1',
        '-0',
        '01',
        '1.5',
        '1.',
        '.5',
        '1e5',
        '1E+',
        '-',
        'true',
        'fals',
        'null',
        ' ',
        '\n',
        '\t',
      ],
      ...['\u00a0', '\ufeff', '//', 'NaN', '+1', "'a'", '\u0000', '"\u0001"', '\\'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const text = pieces.join('');
        let expected: unknown;
        try {
          expected = mapped(JSON.parse(text));
        } catch {
          if (text !== '') expect(faultOf(bytesOf(text)).code).toBe('BAD_JSON');
          return;
        }
        const fault = faultOf(bytesOf(text));
        if (fault.code === 'DUPLICATE_MEMBER') return;
        expect(plain(scanJson(bytesOf(text), defaultLimits))).toEqual(expected);
      }),
      { numRuns: 20_000 },
    );
  });

  it('finds every ill-formed UTF-8 sequence, and nothing else', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const tricky = [
      0x7f, 0x80, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 0xf5,
    ];
    const content = fc.array(fc.constantFrom(...tricky, 0x41), { maxLength: 8 });
    fc.assert(
      fc.property(content, (inside) => {
        const body = Uint8Array.from([0x22, ...inside, 0x22]);
        let text: string | undefined;
        try {
          text = strict.decode(body);
        } catch {}
        if (text === undefined) expect(faultOf(body).code).toBe('BAD_UTF8');
        else expect(scanJson(body, defaultLimits).text()).toBe(text.slice(1, -1));
      }),
      { numRuns: 20_000 },
    );
  });

  const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
  const faults: [string, Uint8Array, object][] = [
    ['two values', bytesOf('{}{}'), { code: 'BAD_JSON', args: { offset: 2 } }],
    ['text after the end', bytesOf('{} x'), { code: 'BAD_JSON', args: { offset: 3 } }],
    ['a bracket after the end', bytesOf('{}]'), { code: 'BAD_JSON', args: { offset: 2 } }],
    ['null twice', bytesOf('null null'), { code: 'BAD_JSON', args: { offset: 5 } }],
    ['NaN', bytesOf('{"v":NaN}'), { code: 'BAD_JSON', args: { offset: 5 } }],
    ['nan', bytesOf('{"v":nan}'), { code: 'BAD_JSON', args: { offset: 5 } }],
    ['Infinity', bytesOf('{"v":Infinity}'), { code: 'BAD_JSON', args: { offset: 5 } }],
    ['-Infinity', bytesOf('{"v":-Infinity}'), { code: 'BAD_JSON', args: { offset: 6 } }],
    ['white space only', bytesOf('  '), { code: 'BAD_JSON', args: { offset: 2 } }],
    ['a byte-order mark', hex('efbbbf7b7d'), { code: 'BAD_JSON', args: { offset: 0 } }],
    ['a trailing comma', bytesOf('{"v":1,}'), { code: 'BAD_JSON', args: { offset: 7 } }],
    ['a comment', bytesOf('{/**/}'), { code: 'BAD_JSON', args: { offset: 1 } }],
    ['an open string', bytesOf('{"v":"a'), { code: 'BAD_JSON', args: { offset: 7 } }],
    ['an escape cut off', bytesOf('"\\'), { code: 'BAD_JSON', args: { offset: 1 } }],
    [
      'bad UTF-8 in a string',
      hex('7b2276223a22c328227d'),
      { code: 'BAD_UTF8', args: { offset: 6 } },
    ],
    ['bad UTF-8 outside', hex('7bff7d'), { code: 'BAD_UTF8', args: { offset: 1 } }],
    [
      'a lone high surrogate',
      bytesOf('{"v":["","\\ud800"]}'),
      { code: 'BAD_STRING', path: '/v/1' },
    ],
    ['a lone low surrogate', bytesOf('{"v":"\\udc00"}'), { code: 'BAD_STRING', path: '/v' }],
    ['two high surrogates', bytesOf('"\\ud800\\ud800"'), { code: 'BAD_STRING', path: '' }],
    ['a lone one in a name', bytesOf('{"a":{"\\ud800":1}}'), { code: 'BAD_STRING', path: '/a' }],
    ['a name twice', bytesOf('{"v":1,"v":2}'), { code: 'DUPLICATE_MEMBER', args: { member: 'v' } }],
    [
      'escaped twice',
      bytesOf('{"a":{"v":1,"\\u0076":2}}'),
      { code: 'DUPLICATE_MEMBER', path: '/a/v' },
    ],
    ['a path with ~ and /', bytesOf('{"a/~":"\\ud800"}'), { code: 'BAD_STRING', path: '/a~1~0' }],
    ['depth', bytesOf(`{"v":${'['.repeat(64)}`), { code: 'JSON_TOO_DEEP', args: { max: 64 } }],
  ];
  it.each(faults)('refuses %s', (_, body, expected) => {
    expect(faultOf(body)).toMatchObject(expected);
  });

  it('accepts the limits themselves and nothing beyond', () => {
    const limits = { ...defaultLimits, json_members: 20, json_elements: 5, json_values: 40 };
    const object = (count: number): string =>
      `{${Array.from({ length: count }, (_, i) => `"m${i}":0`).join()}}`;
    const array = (count: number): string => `[${Array(count).fill(0).join()}]`;
    const fault = (text: string): object => faultOf(bytesOf(text), limits);
    expect(fault(object(20))).toEqual({ code: 'none' });
    expect(fault(`{"o":${object(21)}}`)).toMatchObject({
      code: 'JSON_TOO_MANY_MEMBERS',
      path: '/o',
      args: { max: 20 },
    });
    expect(fault(array(5))).toEqual({ code: 'none' });
    expect(fault(`[1,${array(6)}]`)).toMatchObject({ path: '/1', args: { path: '/1', max: 5 } });
    const many = `[${Array(4).fill(array(5)).join()}]`;
    expect(fault(`[${many}]`)).toEqual({ code: 'none' });
    expect(fault(`[${many},${many}]`)).toMatchObject({ path: '', args: { max: 40 } });
    const nested = '['.repeat(64) + ']'.repeat(64);
    expect(faultOf(bytesOf(nested)).code).toBe('none');
  });

  it('finds duplicates in large objects, and only there', () => {
    const names = Array.from({ length: 5000 }, (_, i) => `"n${i}":${i}`);
    expect(faultOf(bytesOf(`{${names.join()}}`)).code).toBe('none');
    const twice = [...names, '"\\u006e4999":0'];
    expect(faultOf(bytesOf(`{${twice.join()}}`))).toMatchObject({ args: { member: 'n4999' } });
  });

  it('answers hostile bodies quickly', () => {
    const timed = (body: Uint8Array): number => {
      const start = performance.now();
      faultOf(body);
      return performance.now() - start;
    };
    expectFigure(timed(bytesOf(`{"v":${'['.repeat(1_000_000)}`)), 100, 'ms, deep');
    const members = Array.from({ length: 1_000_000 }, (_, i) => `"m${i}":0`);
    expectFigure(timed(bytesOf(`{${members.join()}}`)), 100, 'ms, wide');
  });

  it('takes an empty body as an empty object and knows no prototype', () => {
    const empty = scanJson(new Uint8Array(0), defaultLimits);
    expect([empty.kind, empty.length, empty.member('constructor')]).toEqual([
      'object',
      0,
      undefined,
    ]);
    const view = scanJson(bytesOf('{"__proto__":{"x":1},"constructor":2}'), defaultLimits);
    expect(view.names()).toEqual(['__proto__', 'constructor']);
    expect(view.member('__proto__')!.member('x')!.path).toBe('/__proto__/x');
    expect(view.member('toString')).toBeUndefined();
  });

  it('finds members and elements in any order', () => {
    const view = scanJson(bytesOf('{"a":1,"b":[10,[20],30],"c":3}'), defaultLimits);
    for (const name of ['c', 'a', 'b', 'b', 'a', 'c'])
      expect(view.member(name)!.path).toBe(`/${name}`);
    const list = view.member('b')!;
    expect([2, 0, 2, 1, 0].map((i) => plain(list.at(i)))).toEqual([30, 10, 30, [20], 10]);
    expect(scanJson(bytesOf('-0.50e3'), defaultLimits).token()).toBe('-0.50e3');
  });
});

describe('parseFloat64', () => {
  it('reads every number as the language does', () => {
    const check = (text: string): void => {
      const value = scanJson(bytesOf(text), defaultLimits).float();
      expect(Object.is(value, Number(text)), text).toBe(true);
    };
    const numbers = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.double({ noNaN: true, min: -1, max: 1 }).map((x) => x.toFixed(20)),
      fc
        .tuple(
          fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
          fc.integer({ min: -400, max: 400 }),
        )
        .map(([digits, exponent]) => `${digits}e${exponent}`),
    );
    fc.assert(
      fc.property(numbers, (text) => check(text)),
      { numRuns: 20_000 },
    );
    for (const text of ['9007199254740993', '-0', '-0.0', '0.1', '1e999', '1'.repeat(400)])
      check(text);
  });
});
