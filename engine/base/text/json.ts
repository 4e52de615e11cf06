// Values of the type `Json`: any JSON value as text. The text has no white space between its tokens, and is
// otherwise as it was written: `1.0`, `-0` and integers of any length stay. This file reads parts of it.
// Invariant: the text is valid JSON without duplicate members, at most as deep as `limits.json_depth`,
// because the scanner of bodies has checked it.

/** A JSON value. Comparisons and `GET` read it; storing and printing copy its text. */
export class Json {
  constructor(readonly text: string) {}
}

/** A JSON value in memory. Members of objects are sorted by name; integers are exact. */
export type JsonPart =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonPart[]
  | ReadonlyMap<string, JsonPart>;

const quote = 34;
const comma = 44;
const colon = 58;
const backslash = 92;
const listEnd = 93;
const objectEnd = 125;
const isOpener = (code: number): boolean => code === 91 || code === 123;
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

/** Returns the text without the white space between its tokens. */
export function compactJson(text: string): string {
  let compact = '';
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else if (isSpace(code)) {
      compact += text.slice(from, at);
      while (at < text.length && isSpace(text.charCodeAt(at))) at++;
      from = at;
    } else at++;
  }
  return from === 0 ? text : compact + text.slice(from);
}

/** Returns the index after the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  let end = at + 1;
  while (text.charCodeAt(end) !== quote) end += text.charCodeAt(end) === backslash ? 2 : 1;
  return end + 1;
}

/** Returns the index after the value that begins at `at`. */
function valueEnd(text: string, at: number): number {
  let depth = 0;
  for (let end = at; ; ) {
    const code = text.charCodeAt(end);
    if (code === quote) end = stringEnd(text, end);
    else if (isOpener(code)) {
      depth++;
      end++;
    } else if (code === listEnd || code === objectEnd) {
      if (depth === 0) return end;
      depth--;
      end++;
    } else if (depth === 0 && (code === comma || end === text.length)) return end;
    else end++;
    if (depth === 0 && (code === quote || code === listEnd || code === objectEnd)) return end;
  }
}

const readString = (text: string, start: number, end: number): string => {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
};

/** Visits the parts of a container: members with their names, items with their positions. */
function eachChild(
  text: string,
  visit: (name: string | number, start: number, end: number) => boolean,
) {
  const isObject = text.charCodeAt(0) === 123;
  let count = 0;
  for (let at = 1; at < text.length - 1; ) {
    let name: string | number = count++;
    if (isObject) {
      const end = stringEnd(text, at);
      name = readString(text, at, end);
      at = end + Number(text.charCodeAt(end) === colon);
    }
    const end = valueEnd(text, at);
    if (visit(name, at, end)) return;
    at = end + 1;
  }
}

/** Returns a number: an integer exactly, any other number as the nearest 64-bit float. */
function readNumber(text: string): number | bigint {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || Number.isSafeInteger(value)) return value + 0;
  return BigInt(text);
}

/** Returns the value in memory. */
export function readJson({ text }: Json): JsonPart {
  switch (text.charCodeAt(0)) {
    case quote:
      return readString(text, 0, text.length);
    case 116:
      return true;
    case 102:
      return false;
    case 110:
      return null;
    case 91: {
      const items: JsonPart[] = [];
      eachChild(text, (_, start, end) => {
        items.push(readJson(new Json(text.slice(start, end))));
        return false;
      });
      return items;
    }
    case 123: {
      const members: [string, JsonPart][] = [];
      eachChild(text, (name, start, end) => {
        members.push([String(name), readJson(new Json(text.slice(start, end)))]);
        return false;
      });
      return new Map(members.sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    default:
      return readNumber(text);
  }
}

/** Returns a scalar in memory, and any other value as it is. */
export function scalarOfJson(json: Json): Exclude<JsonPart, object> | Json | null {
  return isOpener(json.text.charCodeAt(0)) ? json : (readJson(json) as Exclude<JsonPart, object>);
}

/**
 * Splits a path such as `a.b.0`: names of members, and positions in lists. A dot in a name is written `\.`.
 * Returns undefined if a name is empty.
 */
export function splitPath(path: string): string[] | undefined {
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  return names.includes('') ? undefined : names;
}

/** Returns the part of a value at a path; null if there is none. */
export function jsonAt({ text }: Json, path: readonly string[]): Json | null {
  let part = text;
  for (const name of path) {
    if (!isOpener(part.charCodeAt(0))) return null;
    let found: string | undefined;
    eachChild(part, (at, start, end) => {
      if (String(at) !== name) return false;
      found = part.slice(start, end);
      return true;
    });
    if (found === undefined) return null;
    part = found;
  }
  return part === 'null' ? null : new Json(part);
}
