// Values of a program as JSON text, for every door that takes them. Invariant: what JSON cannot say is
// refused at its path; it never becomes `null`, `{}` or nothing, as `JSON.stringify` makes of it.
import { toFloat32 } from '../base/float.js';

/** Ends the call: `path` is a JSON Pointer, `param` the same as people read it, `got` what stands there. */
export type Refuse = (path: string, param: string, got: string) => never;

/** Deeper values are cycles that make themselves anew. */
const levelsMax = 256;

/** Halves of a character: with this flag a pair is one. */
const loneSurrogate = /[\ud800-\udfff]/u;

class NotJson extends Error {}

const refuse = (got: string): never => {
  throw new NotJson(got);
};

/** What stands in quotes as it is: most texts are short and such. */
const plainText = /^[ !#-[\]-~]{0,64}$/;

function textOf(text: string): string {
  if (plainText.test(text)) return `"${text}"`;
  return loneSurrogate.test(text) ? refuse('a lone surrogate') : JSON.stringify(text);
}

class Writer {
  /** Where the writer is: when it stops, where it stopped. */
  readonly trail: (string | number)[] = [];
  readonly #open: object[] = [];

  value(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return textOf(value);
      case 'number':
        return Number.isFinite(value) ? `${value}` : refuse(`${value}`);
      case 'bigint':
      case 'boolean':
        return `${value}`;
      case 'object':
        return value === null ? 'null' : this.#object(value);
      default:
        return refuse(value === undefined ? 'undefined' : `a ${typeof value}`);
    }
  }

  #object(value: object): string {
    if (this.#open.includes(value)) refuse('a cycle');
    if (this.#open.length === levelsMax) refuse(`more than ${levelsMax} levels`);
    this.#open.push(value);
    const text = this.#text(value);
    this.#open.pop();
    return text;
  }

  /** `isAsked`: it is what `toJSON` has given. */
  #text(value: object, isAsked = false): string {
    if (Array.isArray(value)) return this.#list(value);
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      const items = Array.from(value as Float64Array);
      return this.#list(value instanceof Float32Array ? items.map(toFloat32) : items);
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function' && !isAsked) {
      if (value instanceof Date && Number.isNaN(value.getTime())) refuse('an invalid date');
      const given: unknown = toJSON.call(value, `${this.trail.at(-1) ?? ''}`);
      return typeof given === 'object' && given ? this.#text(given, true) : this.value(given);
    }
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      return this.value(value.valueOf());
    }
    return this.#members(value);
  }

  #list(items: readonly unknown[]): string {
    // Unlike `every` and `some`, this one does not pass over what is missing.
    if (items.findIndex((item) => !Number.isFinite(item)) < 0) return `[${items.join()}]`;
    let text = '';
    for (let i = 0; i < items.length; i++) {
      text += `${i === 0 ? '[' : ','}${this.#within(i, items[i])}`;
    }
    return `${text}]`;
  }

  #members(value: object): string {
    const names = Object.keys(value);
    if (names.length === 0) {
      // A map, say, has no members, and would read as an empty object.
      const kind = Object.prototype.toString.call(value).slice(8, -1);
      return kind === 'Object' ? '{}' : refuse(`a ${kind}`);
    }
    let text = '';
    for (const name of names) {
      const member = (value as Record<string, unknown>)[name];
      if (member === undefined) continue;
      text += `${text === '' ? '{' : ','}${textOf(name)}:${this.#within(name, member)}`;
    }
    return text === '' ? '{}' : `${text}}`;
  }

  #within(name: string | number, value: unknown): string {
    this.trail.push(name);
    const text = this.value(value);
    this.trail.pop();
    return text;
  }
}

/**
 * The text of a value. A bigint is its digits, a typed array a list, a date its text in UTC; a member
 * that is `undefined` is left out.
 */
export function jsonText(value: unknown, refused: Refuse): string {
  const writer = new Writer();
  try {
    return writer.value(value);
  } catch (error) {
    let path = '';
    let param = '';
    for (const name of writer.trail) {
      path += `/${`${name}`.replace(/~/g, '~0').replace(/\//g, '~1')}`;
      param += param && (typeof name === 'number' ? `[${name}]` : `.${name}`);
      param ||= `${name}`;
    }
    // Getters and `toJSON` are the caller's own, and fail as they like.
    const got = error instanceof NotJson ? error.message : `what fails with: ${error}`;
    return refused(path, param || 'args', got);
  }
}
