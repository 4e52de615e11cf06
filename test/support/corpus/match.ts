// Compares an answer with what a case expects: exact digits, exact member order, and a few markers
// for what cannot be known beforehand. Gives the first difference as text, or undefined.
import { type Exact, type ExactObject, NumberToken, printExact } from './exact-json.js';

/**
 * What a case knows while it runs: ids and other texts saved from earlier answers, and named
 * element objects.
 */
export interface Names {
  saved: Map<string, Exact>;
  elements: ExactObject;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}(\d{3})?)?\+00:00$/;

/** Replaces `${name}` and `${name|upper}` by saved values. */
export function fillText(text: string, names: Names): string {
  return text.replace(/\$\{(\w+)(\|upper)?\}/g, (whole, name: string, upper?: string) => {
    const value = names.saved.get(name);
    if (value === undefined) return whole;
    const plain = typeof value === 'string' ? value : printExact(value);
    return upper ? plain.toUpperCase() : plain;
  });
}

/**
 * Replaces saved names in every string, and a string that is nothing but `${name}` by the value
 * itself.
 */
export function fillValue(value: Exact, names: Names): Exact {
  if (typeof value === 'string') {
    const alone = /^\$\{(\w+)\}$/.exec(value)?.[1];
    const saved = alone === undefined ? undefined : names.saved.get(alone);
    return saved === undefined ? fillText(value, names) : saved;
  }
  if (Array.isArray(value)) return value.map((item) => fillValue(item, names));
  if (value instanceof Map)
    return new Map([...value].map(([name, of]) => [name, fillValue(of, names)]));
  return value;
}

function show(value: Exact | undefined): string {
  const text = value === undefined ? 'nothing' : printExact(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

const numberOf = (value: Exact | undefined): number =>
  value instanceof NumberToken ? Number(value.token) : Number.NaN;

type Marker = (got: Exact | undefined, argument: Exact, names: Names) => boolean;

const markers: Record<string, Marker> = {
  $approx: (got, n) => Math.abs(numberOf(got) - numberOf(n)) <= 1e-6,
  $above: (got, n) => numberOf(got) > numberOf(n),
  $below: (got, n) => numberOf(got) < numberOf(n),
  $any: (got) => got !== undefined,
  $absent: (got) => got === undefined,
  $id: (got) => typeof got === 'string' && uuid.test(got),
  $date: (got) => typeof got === 'string' && date.test(got),
  $length: (got, n) => Array.isArray(got) && got.length === numberOf(n),
  $contains: (got, part, names) =>
    typeof got === 'string' && got.includes(fillText(String(part), names)),
  $not: (got, other, names) => difference(got, other, names) !== undefined,
  $oneOf: (got, options, names) =>
    (options as Exact[]).some((option) => difference(got, option, names) === undefined),
  /** These members, whatever else there is. */
  $has: (got, members, names) =>
    got instanceof Map &&
    [...(members as ExactObject)].every(
      ([name, of]) => difference(got.get(name), of, names) === undefined,
    ),
  /** Matches the same items in any order. */
  $unordered: (got, items, names) => {
    const wanted = [...(items as Exact[])];
    if (!Array.isArray(got) || got.length !== wanted.length) return false;
    return got.every((item) => {
      const at = wanted.findIndex((want) => difference(item, want, names) === undefined);
      return at >= 0 && wanted.splice(at, 1).length === 1;
    });
  },
};

function sameNumber(a: string, b: string): boolean {
  if (a === b) return true;
  const integers = /^-?\d+$/;
  return !integers.test(a) && !integers.test(b) && Number(a) === Number(b);
}

function textDifference(got: Exact | undefined, want: string, names: Names): boolean {
  const filled = fillText(want, names);
  if (got === filled) return false;
  return typeof got !== 'string' || got !== names.saved.get(want);
}

/** The first difference between `got` and `want`, or undefined. */
export function difference(
  got: Exact | undefined,
  want: Exact,
  names: Names,
  path = '',
): string | undefined {
  const differs = () => `at \`${path || '/'}\`: wanted ${show(want)}, got ${show(got)}`;
  if (typeof want === 'string') {
    const element = want.startsWith('@') ? names.elements.get(want.slice(1)) : undefined;
    if (element !== undefined) return difference(got, element, names, path);
    const alone = fillValue(want, names);
    if (typeof alone !== 'string') return difference(got, alone, names, path);
    return textDifference(got, want, names) ? differs() : undefined;
  }
  if (want instanceof NumberToken) {
    if (got instanceof NumberToken && sameNumber(got.token, want.token)) return undefined;
    return differs();
  }
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) return differs();
    return first(want, (item, i) => difference(got[i], item, names, `${path}/${i}`));
  }
  if (!(want instanceof Map)) return got === want ? undefined : differs();
  const marker = want.size === 1 ? markers[[...want.keys()][0]!] : undefined;
  if (marker !== undefined)
    return marker(got, [...want.values()][0]!, names) ? undefined : differs();
  if (!(got instanceof Map)) return differs();
  if ([...got.keys()].join() !== [...want.keys()].join())
    return `at \`${path || '/'}\`: wanted members ${[...want.keys()]}, got ${[...got.keys()]}`;
  return first([...want], ([name, of]) => difference(got.get(name), of, names, `${path}/${name}`));
}

function first<T>(items: T[], of: (item: T, index: number) => string | undefined) {
  for (const [index, item] of items.entries()) {
    const found = of(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
