// Decimal operands against exact rational arithmetic.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { integerOperand } from '../../engine/session/argument/decimal.js';
import { expectFigure } from '../support/run/figure.js';

/** The decimal as numerator over a power of ten. */
function rational(text: string): { over: bigint; under: bigint } {
  const [, sign, before, after = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)!;
  const power = Number(exponent) - after.length;
  const digits = BigInt(sign + before! + after);
  return power >= 0
    ? { over: digits * 10n ** BigInt(power), under: 1n }
    : { over: digits, under: 10n ** BigInt(-power) };
}

function compareWith(text: string, value: bigint): number {
  const { over, under } = rational(text);
  const scaled = value * under;
  return scaled < over ? -1 : scaled > over ? 1 : 0;
}

/** How the executor compares an integer with an operand. */
function operandCompare(text: string, value: bigint): number {
  const operand = integerOperand(text)!;
  if (operand.kind === 'value') {
    const other = BigInt(operand.value as number | bigint);
    return value < other ? -1 : value > other ? 1 : 0;
  }
  if (operand.kind !== 'fraction') throw new Error('not comparable');
  return value <= BigInt(operand.floor) ? -1 : 1;
}

const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });
const whole = fc.oneof(
  fc.constant('0'),
  digits(1, 45).map((text) => text.replace(/^0+/, '') || '0'),
);
const decimal = fc
  .tuple(
    fc.constantFrom('', '-'),
    whole,
    fc.option(digits(1, 45), { nil: undefined }),
    fc.option(fc.integer({ min: -70, max: 30 }), { nil: undefined }),
  )
  .map(
    ([sign, before, after, exponent]) =>
      sign +
      before +
      (after === undefined ? '' : `.${after}`) +
      (exponent === undefined ? '' : `e${exponent}`),
  );

describe('integerOperand', () => {
  test('compares as the exact decimal does', () => {
    fc.assert(
      fc.property(decimal, fc.bigInt(-(2n ** 127n), 2n ** 128n - 1n), (text, other) => {
        const { over, under } = rational(text);
        const near = over / under;
        for (const value of [other, near - 1n, near, near + 1n, 0n, 1n, -1n]) {
          if (value < -(2n ** 127n) || value >= 2n ** 128n) continue;
          expect(operandCompare(text, value), `${value} against ${text}`).toBe(
            compareWith(text, value),
          );
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('numbers beyond every integer keep their side', () => {
    for (const text of ['1e999999999999', `1${'0'.repeat(500)}.5`, '9e60', '1e40'])
      expect(operandCompare(text, 2n ** 128n - 1n)).toBe(-1);
    for (const text of ['-1e999999999999', '-9e60'])
      expect(operandCompare(text, -(2n ** 127n))).toBe(1);
    expect(integerOperand('1e-999999999999')).toEqual({ kind: 'fraction', floor: 0 });
    expect(integerOperand('-1e-999999999999')).toEqual({ kind: 'fraction', floor: -1 });
  });

  test('long strings cost little', () => {
    const started = performance.now();
    integerOperand(`1${'0'.repeat(1_000_000)}1`);
    integerOperand(`0.${'0'.repeat(1_000_000)}1`);
    expectFigure(performance.now() - started, 2_000, 'ms for a million digits');
  });

  test.each([
    '',
    ' 10',
    '10 ',
    '+5',
    '.5',
    '5.',
    '007',
    '0x10',
    '1e',
    'NaN',
    'Infinity',
    '--1',
    '1_0',
    '１',
  ])('%j is no decimal', (text) => {
    expect(integerOperand(text)).toBeUndefined();
  });
});
