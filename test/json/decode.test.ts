// Parameter decoding: the table of http.md 3.7, what every fault says, and exact integers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ErrorData, errorMessage, TrellisError } from '../../engine/base/errors.js';
import { integerRange } from '../../engine/base/integer.js';
import { defaultLimits } from '../../engine/base/limits.js';
import type { ParameterType, ScalarName } from '../../engine/base/schema.js';
import { Instant, Uuid } from '../../engine/base/value.js';
import type { Argument } from '../../engine/json/decoded-argument.js';
import { decodeParameters } from '../../engine/json/decode.js';
import type { Parameter } from '../../engine/plan/plan.js';

const scalar = (name: ScalarName): ParameterType => ({ kind: 'scalar', name });
const list = (of: ParameterType): ParameterType => ({ kind: 'list', of });
const object = (members: Record<string, ParameterType>): ParameterType => ({
  kind: 'object',
  members: Object.entries(members).map(([name, type]) => ({
    name: name.replace('?', ''),
    type,
    optional: name.endsWith('?'),
  })),
});
const parameter = (name: string, type: ParameterType, vector = false): Parameter => ({
  name: name.replace('?', ''),
  type,
  optional: name.endsWith('?'),
  vector,
});

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(parameters: Parameter[], text: string, strict = false): Argument[] {
  return decodeParameters(bytesOf(text), parameters, 'putValue', defaultLimits, strict);
}

function faultOf(parameters: Parameter[], text: string, strict = false): ErrorData {
  try {
    decode(parameters, text, strict);
  } catch (error) {
    if (error instanceof TrellisError) return error.data;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 100)}`);
}

const id = '0193e2f0-5d1c-7cc2-9d7e-0a4d7c1f3b21';

describe('scalars', () => {
  const accepted: [ScalarName, string, Argument][] = [
    ['String', '"a\\u0000b"', 'a\u0000b'],
    ['String', '"\\ud834\\udd1e é"', '𝄞 é'],
    ['String', '""', ''],
    ['Boolean', 'false', false],
    ['U32', '-0', 0],
    ['I8', '-128', -128],
    ['I64', '9007199254740993', 9007199254740993n],
    ['I64', '"-9223372036854775808"', -9223372036854775808n],
    ['U64', '"18446744073709551615"', 18446744073709551615n],
    ['U128', '340282366920938463463374607431768211455', (1n << 128n) - 1n],
    ['U128', '"7"', 7],
    ['F64', '10', 10],
    ['F64', '1e-999', 0],
    ['F64', '1.7976931348623157e308', Number.MAX_VALUE],
    ['F32', '0.1', 0.1],
    ['F32', '0.100000001490116', 0.1],
    ['F32', '16777217', 16777216],
    ['F32', '1e-50', 0],
    ['F32', '3.4028234663852886e38', 3.4028235e38],
    ['Date', '"2024-01-01"', new Instant(1_704_067_200, 0)],
    ['Date', '"2024-01-01t01:00:00.1234567+01:00"', new Instant(1_704_067_200, 123_456)],
    ['Date', '1', new Instant(1, 0)],
    ['Date', '-1', new Instant(-1, 0)],
    ['ID', `"${id.toUpperCase()}"`, new Uuid(id)],
  ];
  it.each(accepted)('%s takes %s', (name, text, value) => {
    expect(decode([parameter('v', scalar(name))], `{"v":${text}}`)).toEqual([value]);
  });

  const refused: [ScalarName, string, string][] = [
    ...['1', '{}', '[]', 'true', 'null'].map((text) => ['String', text, 'PARAM_TYPE'] as const),
    ...['"true"', '0', '1', 'null'].map((text) => ['Boolean', text, 'PARAM_TYPE'] as const),
    ...['1.5', '"1"', 'true', '10.0', '1e3', '[1]'].map(
      (text) => ['U8', text, 'PARAM_TYPE'] as const,
    ),
    ...['-1', '256', '1'.repeat(50)].map((text) => ['U8', text, 'PARAM_RANGE'] as const),
    ['I64', '9223372036854775808', 'PARAM_RANGE'],
    ['I64', '"9223372036854775808"', 'PARAM_RANGE'],
    ['I64', '1'.repeat(1_000_000), 'PARAM_RANGE'],
    ...['" 1"', '"1.0"', '"01"', '"+1"', '""', '"1e3"', '1.0', '1e3'].map(
      (text) => ['I64', text, 'PARAM_TYPE'] as const,
    ),
    ['U128', '340282366920938463463374607431768211456', 'PARAM_RANGE'],
    ...['1e999', '-1e999', '1'.repeat(1_000_000)].map(
      (text) => ['F64', text, 'PARAM_RANGE'] as const,
    ),
    ...['"NaN"', '"1"', 'true'].map((text) => ['F64', text, 'PARAM_TYPE'] as const),
    ['F32', '3.5e38', 'PARAM_RANGE'],
    ...[
      '"2024-01-01T00:00:00"',
      '"1"',
      '"2023-02-30"',
      '"2024-01-01T24:00:00Z"',
      '1.5',
      'true',
    ].map((text) => ['Date', text, 'PARAM_TYPE'] as const),
    ...[
      '"+275760-09-13T00:00:00Z"',
      '"0000-01-01"',
      '"2016-12-31T23:59:60Z"',
      '1e99',
      '999999999999',
    ].map((text) => ['Date', text, 'PARAM_TYPE'] as const),
    ...['""', '"x"', '5', '"zzzzzzzz-0000-7000-8000-000000000000"', `["${id}"]`, `" ${id}"`].map(
      (text) => ['ID', text, 'PARAM_TYPE'] as const,
    ),
    ...[`"{${id}}"`, `"${id.replaceAll('-', '')}"`, `"${'a'.repeat(10_240)}"`].map(
      (text) => ['ID', text, 'PARAM_TYPE'] as const,
    ),
  ] as [ScalarName, string, string][];
  it.each(refused)('%s refuses a bad form (%#)', (name, text, code) => {
    const fault = faultOf([parameter('v', scalar(name))], `{"v":${text}}`);
    expect(fault).toMatchObject({ code, path: '/v', args: { param: 'v' } });
    expect(errorMessage(fault).length).toBeLessThan(250);
  });

  it('keeps every integer exact, at its bounds too', () => {
    for (const [name, range] of Object.entries(integerRange)) {
      const parameters = [parameter('v', scalar(name as ScalarName))];
      const near = fc.bigInt({ min: range.min - 2n, max: range.max + 2n });
      fc.assert(
        fc.property(fc.oneof(near, fc.constantFrom(range.min, range.max)), (value) => {
          const inside = value >= range.min && value <= range.max;
          if (!inside) {
            expect(faultOf(parameters, `{"v":${value}}`).code).toBe('PARAM_RANGE');
            return;
          }
          const [got] = decode(parameters, `{"v":${value}}`);
          expect(BigInt(got as number | bigint)).toBe(value);
          expect(typeof got).toBe(Number.isSafeInteger(Number(value)) ? 'number' : 'bigint');
        }),
      );
    }
  });

  it('reads 32-bit floats as the shortest decimal that names them', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (float) => {
        const [got] = decode([parameter('v', scalar('F32'))], `{"v":${JSON.stringify(float)}}`);
        expect(Math.fround(got as number) + 0).toBe(float + 0);
        expect(`${got}`.length).toBeLessThanOrEqual(`${float}`.length);
      }),
    );
  });

  it('counts the bytes of a string, not of its token', () => {
    const limit = defaultLimits.value_bytes;
    const parameters = [parameter('v', scalar('String'))];
    expect(decode(parameters, `{"v":"${'x'.repeat(limit)}"}`)).toEqual(['x'.repeat(limit)]);
    expect(decode(parameters, `{"v":"${'\\n'.repeat(limit)}"}`)).toEqual(['\n'.repeat(limit)]);
    const fault = faultOf(parameters, `{"v":"${'x'.repeat(limit + 1)}"}`);
    expect(fault).toMatchObject({ code: 'VALUE_TOO_LARGE', args: { size: limit + 1, max: limit } });
  });
});

describe('bodies', () => {
  const name = parameter('name', scalar('String'));
  const age = parameter('age', scalar('I32'));
  const email = parameter('email', scalar('String'));
  const note = parameter('note?', scalar('String'));

  it('are alike when empty, null or {}', () => {
    for (const text of ['', 'null', '{}', ' null ']) {
      expect(decode([note], text)).toEqual([null]);
      expect(faultOf([name], text)).toMatchObject({ code: 'PARAM_MISSING', path: '/name' });
    }
  });

  it.each([
    ['"x"', 'a string'],
    ['-0.5e3', 'a number'],
    ['true', 'a Boolean'],
    ['[]', 'an array'],
  ])('refuse %s', (text, kind) => {
    expect(faultOf([], text)).toEqual({ code: 'BODY_NOT_OBJECT', args: { kind } });
  });

  it('report all errors, the first in declaration order', () => {
    const fault = faultOf([name, age, email], '{"email":2,"name":1}');
    expect(errorMessage(fault)).toBe('`name` must be String, got a number.');
    expect(fault).toMatchObject({ code: 'PARAM_TYPE', path: '/name', hint: 'For example "text".' });
    expect(fault.errors!.map((other) => [other.code, other.path])).toEqual([
      ['PARAM_TYPE', '/name'],
      ['PARAM_MISSING', '/age'],
      ['PARAM_TYPE', '/email'],
    ]);
    expect(faultOf([name, age], '{"name":"x"}').errors).toBeUndefined();
  });

  it('say what was sent where a parameter is missing', () => {
    const hints: [string, string | undefined][] = [
      ['{"nme":"x"}', '`nme` was sent. Did you mean `name`?'],
      ['{"Name":"x"}', '`Name` was sent. Did you mean `name`?'],
      ['{"note":"x","title":1}', 'Sent were `note`, `title`.'],
      ['{}', 'For example {"name": "text"}.'],
      ['', 'For example {"name": "text"}.'],
      // What has a meaning of its own was not mistyped.
      ['{"nam":"x"}', 'Sent were `nam`.'],
    ];
    const nam = parameter('nam?', scalar('String'));
    for (const [text, hint] of hints) {
      const declared = text.includes('"nam"') ? [name, nam] : [name, note];
      expect(faultOf(declared, text), text).toMatchObject({ code: 'PARAM_MISSING', hint });
    }
    const rows = parameter('rows', list(object({ first: scalar('I8'), 'last?': scalar('I8') })));
    expect(faultOf([rows], '{"rows":[{"firts":1}]}')).toMatchObject({
      path: '/rows/0/first',
      hint: '`firts` was sent. Did you mean `first`?',
    });
    const many = Array.from({ length: 200 }, (_, at) => `"m${at}":1`).join();
    expect(faultOf([name], `{${many}}`).hint).toMatch(/^Sent were `m0`, .*`m7`, …\.$/);
  });

  it('report at most 8', () => {
    const many = Array.from({ length: 20 }, (_, i) => parameter(`p${i}`, scalar('I8')));
    expect(faultOf(many, '{}').errors).toHaveLength(8);
    const rows = parameter('rows', list(scalar('I8')));
    expect(faultOf([rows], `{"rows":[${Array(100).fill('""').join()}]}`).errors).toHaveLength(8);
  });

  it('ignore undeclared members, unless strict', () => {
    const hostile = '{"constructor":{"prototype":{"name":"p"}},"name":"x","__proto__":1}';
    expect(decode([name], hostile)).toEqual(['x']);
    expect(faultOf([name], '{"constructor":{"name":"p"}}').code).toBe('PARAM_MISSING');
    expect(faultOf([name], hostile, true)).toMatchObject({
      code: 'UNKNOWN_MEMBER',
      path: '/constructor',
      args: { member: 'constructor', owner: 'putValue' },
    });
    const rows = parameter('rows', list(object({ n: scalar('I8') })));
    expect(faultOf([rows], '{"rows":[{"n":1,"m":2}]}', true).path).toBe('/rows/0/m');
    expect(decode([rows], '{"rows":[{"n":1,"m":2}]}')).toEqual([[new Map([['n', 1]])]]);
  });

  it('take null for optional parameters only', () => {
    expect(decode([note], '{"note":null}')).toEqual([null]);
    expect(faultOf([name], '{"name":null}')).toMatchObject({ args: { got: 'null' } });
  });
});

describe('lists and objects', () => {
  it('nest', () => {
    const rows = parameter(
      'rows',
      list(object({ n: scalar('I64'), 'tags?': list(scalar('String')) })),
    );
    expect(decode([rows], '{"rows":[{"tags":["a"],"n":1},{"n":9007199254740993}]}')).toEqual([
      [
        new Map<string, Argument>([
          ['n', 1],
          ['tags', ['a']],
        ]),
        new Map<string, Argument>([
          ['n', 9007199254740993n],
          ['tags', null],
        ]),
      ],
    ]);
    expect(decode([rows], '{"rows":[]}')).toEqual([[]]);
  });

  it.each([
    ['{"rows":[{"n":1},{"n":"x"}]}', 'rows[1].n', '/rows/1/n', 'PARAM_TYPE'],
    ['{"rows":[{"n":1},{}]}', 'rows[1].n', '/rows/1/n', 'PARAM_MISSING'],
    ['{"rows":[3]}', 'rows[0]', '/rows/0', 'PARAM_TYPE'],
    ['{"rows":{}}', 'rows', '/rows', 'PARAM_TYPE'],
    ['{"rows":[{"n":300}]}', 'rows[0].n', '/rows/0/n', 'PARAM_RANGE'],
  ])('name the place in %s', (text, param, path, code) => {
    const rows = parameter('rows', list(object({ n: scalar('I8') })));
    expect(faultOf([rows], text)).toMatchObject({ code, path, args: { param } });
  });

  it('keep lists of F64 as typed arrays and refuse what is not finite', () => {
    const weights = parameter('w', list(scalar('F64')));
    expect(decode([weights], '{"w":[1,0.5,3.5e38]}')).toEqual([Float64Array.of(1, 0.5, 3.5e38)]);
    expect(decode([weights], '{"w":[]}')).toEqual([new Float64Array(0)]);
    expect(faultOf([weights], '{"w":[1,1e999]}')).toMatchObject({
      code: 'PARAM_RANGE',
      path: '/w/1',
    });
    expect(faultOf([weights], '{"w":[1,null]}')).toMatchObject({
      code: 'PARAM_TYPE',
      path: '/w/1',
    });
  });
});

describe('vectors', () => {
  const vec = parameter('vec', list(scalar('F64')), true);
  const wide = `{"vec":[0${',0.5'.repeat(65_535)}]}`;
  it.each([
    ['{"vec":[]}', { code: 'VECTOR_EMPTY', path: '/vec' }],
    [
      '{"vec":[1,null]}',
      { code: 'PARAM_TYPE', path: '/vec/1', args: { param: 'vec[1]', type: 'F64' } },
    ],
    ['{"vec":["1",0]}', { code: 'PARAM_TYPE', path: '/vec/0' }],
    ['{"vec":[[1],0]}', { code: 'PARAM_TYPE', path: '/vec/0' }],
    ['{"vec":[true,1]}', { code: 'PARAM_TYPE', path: '/vec/0' }],
    ['{"vec":{"0":1}}', { code: 'PARAM_TYPE', path: '/vec' }],
    ['{"vec":"1,0"}', { code: 'PARAM_TYPE', path: '/vec' }],
    ['{"vec":[0,3.5e38]}', { code: 'VECTOR_NOT_FINITE', args: { param: 'vec', index: 1 } }],
    ['{"vec":[1e999]}', { code: 'VECTOR_NOT_FINITE', args: { index: 0 } }],
    [wide, { code: 'VECTOR_TOO_LONG', args: { got: 65_536, max: 65_535 } }],
    [`{"vec":[0${',0.123456'.repeat(999_999)}]}`, { code: 'VECTOR_TOO_LONG' }],
  ])('refuse a bad form (%#)', (text, expected) => {
    expect(faultOf([vec], text)).toMatchObject(expected);
  });

  it('are kept exactly', () => {
    expect(decode([vec], '{"vec":[3.4e38,1e-45,-0.006929283495992422]}')).toEqual([
      Float64Array.of(3.4e38, 1e-45, -0.006929283495992422),
    ]);
    const many = parameter('vs', list(list(scalar('F64'))), true);
    expect(decode([many], '{"vs":[[1],[2,3]]}')).toEqual([
      [Float64Array.of(1), Float64Array.of(2, 3)],
    ]);
    expect(faultOf([many], '{"vs":[[1],[]]}')).toMatchObject({
      code: 'VECTOR_EMPTY',
      path: '/vs/1',
    });
  });
});
