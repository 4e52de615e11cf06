// Arguments of embedded calls: what is taken from an object directly equals what its JSON text is decoded to,
// and everything else is left to that way.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fail } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import type { ParameterType, ScalarName } from '../../engine/base/schema.js';
import { Uuid } from '../../engine/base/value.js';
import { decodeParameters } from '../../engine/json/decode.js';
import { directArguments } from '../../engine/json/direct-arguments.js';
import { jsonText } from '../../engine/json/json-text.js';
import type { Parameter } from '../../engine/plan/plan.js';

const names: ScalarName[] = [
  'String',
  'Boolean',
  'Date',
  'ID',
  ...(['I8', 'I16', 'I32', 'I64', 'U8', 'U16', 'U32', 'U64', 'U128'] as const),
  'F32',
  'F64',
];
const typed = (name: string, type: ParameterType, optional = false): Parameter => {
  return { name, type, optional, vector: false };
};
const scalar = (name: ScalarName): ParameterType => ({ kind: 'scalar', name });

/** What the way through JSON gives, or the code of its error. */
function throughJson(given: object, parameters: Parameter[]): unknown {
  try {
    const text = jsonText(given, (_, param) => fail('PARAM_TYPE', { param, type: '', got: '' }));
    const body = new TextEncoder().encode(text);
    return decodeParameters(body, parameters, 'q', defaultLimits, true);
  } catch (error) {
    return error;
  }
}

const value = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.uuid().map((text) => (text.length % 2 ? text : text.toUpperCase())),
  fc.double(),
  fc.integer({ min: -300, max: 300 }),
  fc.maxSafeInteger(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, 2 ** 53, 1e300, '2026-11-29', '12', [], {}, new Date(0)),
);

describe('arguments of an embedded call', () => {
  it('that are taken directly equal those of their JSON text, for every type and value', () => {
    const one = fc.record({ type: fc.constantFrom(...names), value, optional: fc.boolean() });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 3 }), fc.boolean(), (list, isReversed) => {
        const parameters = list.map(({ type, optional }, i) =>
          typed(`p${i}`, scalar(type), optional),
        );
        const members = list.map((each, i) => [`p${i}`, each.value] as const);
        const given = Object.fromEntries(isReversed ? members.reverse() : members);
        const direct = directArguments(given, parameters, defaultLimits);
        if (direct === undefined) return;
        expect(direct).toStrictEqual(throughJson(given, parameters));
      }),
      { numRuns: 5000 },
    );
  });

  it.each<[ScalarName, unknown, unknown]>([
    ['String', 'Ada Lovelace', 'Ada Lovelace'],
    [
      'ID',
      '0193E2F0-5d1c-7cc2-9d7e-0a4d7c1f3b21',
      new Uuid('0193e2f0-5d1c-7cc2-9d7e-0a4d7c1f3b21'),
    ],
    ['I64', Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
    ['U8', 255, 255],
    ['U128', -0, 0],
    ['F64', -0, 0],
    ['F32', 0.1, 0.1],
    ['Boolean', false, false],
  ])('%s %j is taken directly', (type, given, wanted) => {
    const parameters = [typed('b', scalar('Boolean')), typed('v', scalar(type))];
    const args = directArguments({ v: given, b: true }, parameters, defaultLimits);
    expect(args).toStrictEqual([true, wanted]);
  });

  const text = [typed('v', scalar('String'))];
  it.each<[string, object, Parameter[]]>([
    ['a member more', { v: 'a', w: 'b' }, text],
    ['a member less', {}, text],
    ['another member', { w: 'a' }, text],
    ['a value to escape', { v: '"' }, text],
    ['a long text', { v: 'a'.repeat(65) }, text],
    ['a list', { v: ['a'] }, [typed('v', { kind: 'list', of: scalar('String') })]],
    ['a number out of range', { v: 256 }, [typed('v', scalar('U8'))]],
    ['no UUID', { v: 'abc' }, [typed('v', scalar('ID'))]],
    [
      'a class',
      new (class {
        v = 'a';
      })(),
      text,
    ],
    ['a map', new Map([['v', 'a']]), text],
    [
      'a getter that fails',
      {
        get v(): string {
          throw new Error('never');
        },
      },
      text,
    ],
  ])('%s takes the way through JSON', (_, given, parameters) => {
    expect(directArguments(given, parameters, defaultLimits)).toBeUndefined();
  });

  it('take the way through JSON where its limits are below their number', () => {
    const two = [typed('a', scalar('U8')), typed('b', scalar('U8'))];
    const take = (limits: object): unknown =>
      directArguments({ a: 1, b: 2 }, two, { ...defaultLimits, ...limits });
    expect(take({})).toEqual([1, 2]);
    expect(take({ json_members: 1 })).toBeUndefined();
    expect(take({ json_values: 2 })).toBeUndefined();
    const limits = { ...defaultLimits, value_bytes: 2 };
    expect(directArguments({ v: 'abc' }, text, limits)).toBeUndefined();
  });
});
