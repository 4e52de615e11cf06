// Parses and prints JSON for people without losing a digit. A number that a double would change stays as its
// text.

/** The digits of a number, as in the reply. */
export class Digits {
  constructor(readonly text: string) {}
}

export type Value = null | boolean | number | string | Digits | Value[] | { [name: string]: Value };

const mark = '\u0000';
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function readJson(text: string): Value {
  const marked = text.replace(token, (found) => {
    const isPlain = found[0] === '"' || String(Number(found)) === found;
    return isPlain ? found : `"\\u0000${found}"`;
  });
  // A string of the data can begin with the same sign, so it is escaped there too.
  const digits = /^\0-?\d[\d.eE+-]*$/;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value[0] === mark && digits.test(value)
      ? new Digits(value.slice(1))
      : value,
  ) as Value;
}

export function printJson(value: Value): string {
  if (value instanceof Digits) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${printJson(member)}`,
  );
  return `{${members.join(',')}}`;
}

export const isRecord = (value: Value): value is { [name: string]: Value } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Digits);
