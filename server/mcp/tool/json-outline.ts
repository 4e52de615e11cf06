// Finds the lists of a JSON reply with their items, and the integers that a reader in JavaScript would round.
// Invariant: the text is a reply of the engine, so it is well-formed. No part of it is parsed and printed
// again.
import type { DecodePath } from '../../../engine/internal.js';

export interface ListSpan {
  /** JSON Pointer. */
  path: string;
  /** Offset of the opening bracket. */
  start: number;
  end: number;
  /** Start and end of each item, one after the other. */
  items: number[];
  /** Lists directly inside this one. */
  inner: ListSpan[];
}

export interface Outline {
  lists: ListSpan[];
  /** Start and end of each integer beyond 53 bits at one of the paths. */
  wide: number[];
}

/** `every`: integers at any position count. */
export type WidePaths = DecodePath | 'every';

export function outlineOf(text: string, widePaths: WidePaths): Outline {
  const reader = new Reader(text);
  reader.value(widePaths, '');
  return { lists: reader.lists, wide: reader.wide };
}

const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
const word = /[a-z]+/y;

class Reader {
  lists: ListSpan[] = [];
  readonly wide: number[] = [];
  #at = 0;

  constructor(private readonly text: string) {}

  value(widePath: WidePaths, path: string): void {
    const first = this.text[this.#at];
    if (first === '{') this.#object(widePath, path);
    else if (first === '[') this.#list(widePath, path);
    else if (first === '"') this.#string();
    else if (first === '-' || (first! >= '0' && first! <= '9')) this.#number(widePath);
    else this.#match(word);
  }

  #object(widePath: WidePaths, path: string): void {
    this.#at++;
    while (this.text[this.#at] !== '}') {
      const name = this.#string();
      this.#at++;
      this.value(memberPaths(widePath, name), `${path}/${name}`);
      if (this.text[this.#at] === ',') this.#at++;
    }
    this.#at++;
  }

  #list(widePath: WidePaths, path: string): void {
    const outer = this.lists;
    const span: ListSpan = { path, start: this.#at, end: 0, items: [], inner: [] };
    this.lists = span.inner;
    const item = Array.isArray(widePath) ? widePath[0] : widePath === 'every' ? widePath : 0;
    this.#at++;
    while (this.text[this.#at] !== ']') {
      const start = this.#at;
      this.value(item, `${path}/${span.items.length / 2}`);
      span.items.push(start, this.#at);
      if (this.text[this.#at] === ',') this.#at++;
    }
    span.end = ++this.#at;
    this.lists = outer;
    outer.push(span);
  }

  /** Skips the characters between the quotes. */
  #string(): string {
    const { text } = this;
    const start = this.#at + 1;
    let end = text.indexOf('"', start);
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
    this.#at = end + 1;
    return text.slice(start, end);
  }

  #number(widePath: WidePaths): void {
    const start = this.#at;
    const [token, fraction, power] = this.#match(number);
    const isWide = token!.length > 15 && fraction === undefined && power === undefined;
    if (!isWide || (widePath !== 'every' && widePath !== 3)) return;
    if (!Number.isSafeInteger(Number(token))) this.wide.push(start, this.#at);
  }

  #match(form: RegExp): RegExpExecArray {
    form.lastIndex = this.#at;
    const match = form.exec(this.text)!;
    this.#at = form.lastIndex;
    return match;
  }
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text[quote - 1 - slashes] === '\\') slashes++;
  return slashes % 2 === 1;
}

function memberPaths(widePath: WidePaths, name: string): WidePaths {
  if (widePath === 'every') return widePath;
  if (typeof widePath !== 'object' || Array.isArray(widePath)) return 0;
  return Object.hasOwn(widePath, name) ? widePath[name]! : 0;
}
