// Converts JavaScript values to JSON text for all embedded interfaces.
// Invariant: a value that JSON cannot represent is rejected with its path; it never becomes `null`, `{}` or
// nothing, as with `JSON.stringify`.
import { toFloat32 } from '../base/float.js';

/** Ends the call: `path` is a JSON Pointer, `param` the same path for people, `got` describes the value. */
export type Refuse = (path: string, param: string, got: string) => never;

/** Deeper values are cycles that `toJSON` creates. */
const levelsMax = 256;

/** Unpaired surrogates: with this flag a pair is one character. */
const loneSurrogate = /[\ud800-\udfff]/u;

class NotJson extends Error {}

const refuse = (got: string): never => {
  throw new NotJson(got);
};

/** Text that needs no escapes. Most texts match and are short. */
export const plainText = /^[ !#-[\]-~]{0,64}$/;

function quoteText(text: string): string {
  if (plainText.test(text)) return `"${text}"`;
  return loneSurrogate.test(text) ? refuse('a lone surrogate') : JSON.stringify(text);
}

class Writer {
  /** Path of the current value; after an error, the path of that value. */
  readonly trail: (string | number)[] = [];
  readonly #open: object[] = [];

  value(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return quoteText(value);
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

  /** `isConverted`: the value is the result of `toJSON`. */
  #text(value: object, isConverted = false): string {
    if (Array.isArray(value)) return this.#list(value);
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      const items = Array.from(value as Float64Array);
      return this.#list(value instanceof Float32Array ? items.map(toFloat32) : items);
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function' && !isConverted) {
      if (value instanceof Date && Number.isNaN(value.getTime())) refuse('an invalid date');
      const converted: unknown = toJSON.call(value, `${this.trail.at(-1) ?? ''}`);
      return typeof converted === 'object' && converted
        ? this.#text(converted, true)
        : this.value(converted);
    }
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      return this.value(value.valueOf());
    }
    return this.#members(value);
  }

  #list(items: readonly unknown[]): string {
    // Unlike `every` and `some`, `findIndex` visits missing elements.
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
      // A Map, for example, has no own members and would print as an empty object.
      const kind = Object.prototype.toString.call(value).slice(8, -1);
      return kind === 'Object' ? '{}' : refuse(`a ${kind}`);
    }
    let text = '';
    for (const name of names) {
      const member = (value as Record<string, unknown>)[name];
      if (member === undefined) continue;
      text += `${text === '' ? '{' : ','}${quoteText(name)}:${this.#within(name, member)}`;
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
 * Returns the text of a value. A bigint prints as its digits, a typed array as a list, a date as its text in
 * UTC. A member that is `undefined` is left out.
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
    // Getters and `toJSON` are code of the caller and may throw anything.
    const got = error instanceof NotJson ? error.message : `what fails with: ${error}`;
    return refused(path, param || 'args', got);
  }
}
