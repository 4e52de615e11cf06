// Checks options that a program passes. Each checker defines the permitted values of one option and fails
// with a typed error that names the option.
// Invariant: a checker returns only for a value that the engine can use.
import { excerpt, fail } from '../base/errors.js';

/** `name` is the path of the option, such as `snapshot.keep`. */
export type Checker = (value: unknown, name: string) => void;

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function refuse(param: string, type: string, value: unknown): never {
  return fail('PARAM_TYPE', { param, type, got: kindOf(value) });
}

const ofType =
  (type: string, isIt: (value: unknown) => boolean): Checker =>
  (value, name) => {
    if (!isIt(value)) refuse(name, type, value);
  };

export const one = {
  text: ofType('String', (value) => typeof value === 'string' && value !== ''),
  source: ofType(
    'String or bytes',
    (value) => typeof value === 'string' || value instanceof Uint8Array,
  ),
  flag: ofType('Boolean', (value) => typeof value === 'boolean'),
  callback: ofType('a function', (value) => typeof value === 'function'),
};

export function integer(min: number, max: number): Checker {
  return (value, name) => {
    if (!Number.isInteger(value)) refuse(name, 'an integer', value);
    const got = value as number;
    if (got < min || got > max) fail('PARAM_RANGE', { param: name, min, max, got });
  };
}

export function choice(...values: string[]): Checker {
  return (value, name) => {
    if (typeof value !== 'string') refuse(name, 'String', value);
    if (values.includes(value)) return;
    fail('PARAM_VALUE', { param: name, allowed: values.join(' or '), got: excerpt(value) });
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Accepts any member names. */
export function record(check: Checker): Checker {
  return (value, name) => {
    if (!isObject(value)) refuse(name, 'an object', value);
    for (const [member, one] of Object.entries(value)) check(one, `${name}.${member}`);
  };
}

export function list(check: Checker): Checker {
  return (value, name) => {
    if (!Array.isArray(value)) refuse(name, 'a list', value);
    for (const [i, one] of value.entries()) check(one, `${name}[${i}]`);
  };
}

/** Accepts only these members. Undefined members count as absent; `needed` ones must be present. */
export function shape(members: Record<string, Checker>, needed: readonly string[] = []): Checker {
  return (value, name) => {
    if (!isObject(value)) refuse(name, 'an object', value);
    const prefix = name === '' || name === 'options' ? '' : `${name}.`;
    for (const member of needed) {
      if (value[member] !== undefined) continue;
      fail('PARAM_MISSING', { owner: 'open', param: `${prefix}${member}`, type: 'an option' });
    }
    for (const [member, one] of Object.entries(value)) {
      const check = Object.hasOwn(members, member) ? members[member] : undefined;
      if (check === undefined) {
        fail('UNKNOWN_MEMBER', { owner: 'open', member: excerpt(`${prefix}${member}`) });
      }
      if (one !== undefined) check(one, `${prefix}${member}`);
    }
  };
}
