// Decimal text against integers, exactly: no value is ever rounded through a float (sessions.md
// 6.2).
import { compactInteger } from '../../base/integer.js';
import type { SessionOperand } from '../../plan/expression.js';

const decimalText = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Beyond every integer type: longer numbers compare with all of them as this one does. */
const digitsMax = 60;
const beyond = 10n ** BigInt(digitsMax);

/** Whether `text` is a number as JSON writes it. */
export function isDecimal(text: string): boolean {
  return decimalText.test(text);
}

/**
 * The operand for comparing integers with the decimal `text`: its value when it is whole, else its
 * floor and that it has a fraction. Undefined when it is no decimal.
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
