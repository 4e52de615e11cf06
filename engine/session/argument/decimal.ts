// Compares decimal texts with integers exactly: no value is rounded to a float.
import { compactInteger } from '../../base/integer.js';
import type { SessionOperand } from '../../plan/expression.js';

const decimalText = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** More digits than any integer type has. All longer numbers compare as one of this length. */
const digitsMax = 60;
const beyond = 10n ** BigInt(digitsMax);

/** Returns true if `text` is a number in JSON syntax. */
export function isDecimal(text: string): boolean {
  return decimalText.test(text);
}

/**
 * Returns the operand for comparing integers with the decimal `text`: its value if it is whole, otherwise its
 * floor and a flag for the fraction. Undefined if the text is not a decimal.
 */
export function integerOperand(text: string): SessionOperand | undefined {
  const match = decimalText.exec(text);
  if (match === null) return undefined;
  const [, sign, before, after = '', exponent = '0'] = match;
  const all = before! + after;
  let start = 0;
  while (all[start] === '0') start++;
  if (start === all.length) return { kind: 'value', value: 0 };
  let end = all.length;
  while (all[end - 1] === '0') end--;
  const digits = all.slice(start, end);
  // The value is 0.<digits> times ten to the power of `point`.
  const point = before!.length - start + Number(exponent);
  const isNegative = sign === '-';
  const isWhole = point >= digits.length;
  const whole = wholePart(digits, point);
  if (isWhole) return { kind: 'value', value: compactInteger(isNegative ? -whole : whole) };
  return { kind: 'fraction', floor: compactInteger(isNegative ? -whole - 1n : whole) };
}

function wholePart(digits: string, point: number): bigint {
  if (point <= 0) return 0n;
  if (point > digitsMax) return beyond;
  return BigInt(digits.slice(0, point).padEnd(point, '0'));
}
