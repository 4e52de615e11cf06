// JSON with nothing lost: numbers keep their digits, objects keep the order of their members. Case
// files and answers are both read with it, so that a wrong digit or a wrong member order is a
// difference.

/** A number as it was written. */
export class NumberToken {
  constructor(readonly token: string) {}
}

export type ExactObject = Map<string, Exact>;
export type Exact = null | boolean | string | NumberToken | Exact[] | ExactObject;

const space = /[ \t\r\n]*/y;
const word = /true|false|null/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const string = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  take(character: string): boolean {
    this.match(space);
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  need(character: string): void {
    if (!this.take(character)) this.refuse(`\`${character}\` expected`);
  }

  refuse(what: string): never {
    const near = this.text.slice(Math.max(0, this.at - 30), this.at + 30);
    throw new SyntaxError(`${what} at ${this.at} near ${JSON.stringify(near)}`);
  }

  value(): Exact {
    if (this.take('{')) return this.object();
    if (this.take('[')) return this.array();
    const text = this.match(string);
    if (text !== undefined) return JSON.parse(text) as string;
    const digits = this.match(number);
    if (digits !== undefined) return new NumberToken(digits);
    const literal = this.match(word);
    if (literal === undefined) this.refuse('a JSON value expected');
    return literal === 'null' ? null : literal === 'true';
  }

  object(): ExactObject {
    const members: ExactObject = new Map();
    if (this.take('}')) return members;
    do {
      this.match(space);
      const raw = this.match(string) ?? this.refuse('a member name expected');
      const name = JSON.parse(raw) as string;
      if (members.has(name)) this.refuse(`member ${raw} occurs twice`);
      this.need(':');
      members.set(name, this.value());
    } while (this.take(','));
    this.need('}');
    return members;
  }

  array(): Exact[] {
    const items: Exact[] = [];
    if (this.take(']')) return items;
    do items.push(this.value());
    while (this.take(','));
    this.need(']');
    return items;
  }
}

/** Reads one JSON text; throws SyntaxError on anything else. */
export function parseExact(text: string): Exact {
  const reader = new Reader(text);
  const value = reader.value();
  reader.match(space);
  if (reader.at !== text.length) reader.refuse('trailing data');
  return value;
}

/** Compact JSON text, members in order, numbers as written. */
export function printExact(value: Exact): string {
  if (value instanceof NumberToken) return value.token;
  if (Array.isArray(value)) return `[${value.map(printExact).join(',')}]`;
  if (value instanceof Map) {
    const members = [...value].map(([name, of]) => `${JSON.stringify(name)}:${printExact(of)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Plain JavaScript values; big numbers lose digits. */
export function plainOf(value: Exact): unknown {
  if (value instanceof NumberToken) return Number(value.token);
  if (Array.isArray(value)) return value.map(plainOf);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, of]) => [name, plainOf(of)]));
  return value;
}

/** The value at a JSON Pointer (RFC 6901), or undefined. */
export function atPointer(value: Exact, pointer: string): Exact | undefined {
  if (pointer === '') return value;
  let place: Exact | undefined = value;
  for (const raw of pointer.slice(1).split('/')) {
    const name = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(place)) place = place[Number(name)];
    else if (place instanceof Map) place = place.get(name);
    else return undefined;
  }
  return place;
}
