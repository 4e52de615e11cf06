// JSON without loss: integers that a float would round are read as bigint. Pure.

interface Source {
  source?: string;
}

/** As JSON.parse; where the browser does not tell the digits, integers are as it reads them. */
export function parseExact(text: string): unknown {
  // Most answers hold no such number: the plain way is ten times as fast.
  if (!/\d{16}/.test(text)) return text === '' ? null : JSON.parse(text);
  const revive = (_: string, value: unknown, context?: Source): unknown => {
    const digits = context?.source;
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    return digits !== undefined && /^-?\d+$/.test(digits) ? BigInt(digits) : value;
  };
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}
