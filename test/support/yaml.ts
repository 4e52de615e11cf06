// As much YAML as the files that are shipped use: maps and lists by indent and in brackets, plain and quoted
// words, blocks of text, anchors and what is merged from them. Invariant: what it does not know is an error, never
// a guess.

type Yaml = string | Yaml[] | { [key: string]: Yaml };
type YamlMap = { [key: string]: Yaml };

const isMap = (one: Yaml | undefined): one is YamlMap =>
  typeof one === 'object' && !Array.isArray(one);

export class YamlReader {
  readonly #lines: string[];
  #at = 0;
  readonly #anchors = new Map<string, Yaml>();

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  /** Whoever asks says what is there, and looks whether it is. */
  read<T = Yaml>(): T {
    const all = this.#block(0);
    if (this.#next() !== undefined) throw new RangeError(`line ${this.#at + 1} is not understood`);
    return all as T;
  }

  /** The next line that says something. */
  #next(): string | undefined {
    while (/^\s*(#|$)/.test(this.#lines[this.#at] ?? 'end')) this.#at++;
    return this.#lines[this.#at];
  }

  #indent(): number {
    return /^ */.exec(this.#next() ?? '')![0].length;
  }

  #block(indent: number): Yaml {
    const isList = /^ *- ?/.test(this.#next() ?? '');
    const list: Yaml[] = [];
    const map: YamlMap = {};
    while (this.#next() !== undefined && this.#indent() === indent) {
      const line = this.#lines[this.#at++]!.slice(indent);
      const match = isList ? /^(-)(?: +(.*))?$/.exec(line) : /^([\w.<-]+):(?: +(.*))?$/.exec(line);
      if (match === null) throw new RangeError(`line ${this.#at} is not understood: ${line}`);
      const [, key, rest = ''] = match;
      const value = this.#value(rest, indent);
      if (isList) list.push(value);
      else put(map, key!, value);
    }
    return isList ? list : map;
  }

  #value(text: string, indent: number): Yaml {
    const [, anchor, rest] = /^(?:&(\w+) *)?(.*)$/.exec(text)!;
    const value =
      rest === '|' ? this.#text(indent) : rest === '' ? this.#inner(indent) : this.#flow(rest!);
    if (anchor !== undefined) this.#anchors.set(anchor, value);
    return value;
  }

  #inner(indent: number): Yaml {
    return this.#indent() > indent ? this.#block(this.#indent()) : '';
  }

  /** All that is further in, as it stands. */
  #text(indent: number): string {
    const inner = this.#indent();
    const lines: string[] = [];
    while (inner > indent && /^ */.exec(this.#lines[this.#at] ?? '')![0].length >= inner)
      lines.push(this.#lines[this.#at++]!.slice(inner));
    return `${lines.join('\n')}\n`;
  }

  #flow(text: string): Yaml {
    const words = text.match(
      /"[^"]*"|\$\{[^}]*\}|[[\]{},]|:(?= |$)|[^\s[\]{},:"]+(?::[^\s[\]{},"]+)*|:/g,
    );
    if (/^[[{]/.test(text)) {
      const value = this.#item(words!);
      if (words!.length > 0) throw new RangeError(`more behind: ${text}`);
      return value;
    }
    return this.#word(text);
  }

  #item(words: string[]): Yaml {
    const first = words.shift()!;
    if (first !== '[' && first !== '{') return this.#word(first);
    const list: Yaml[] = [];
    const map: YamlMap = {};
    const end = first === '[' ? ']' : '}';
    while (words[0] !== end) {
      if (words.length === 0) throw new RangeError(`${end} is missing`);
      const item = this.#item(words);
      if (first === '[') list.push(item);
      else {
        if (words.shift() !== ':') throw new RangeError(`no value of ${String(item)}`);
        put(map, String(item), this.#item(words));
      }
      if (words[0] === ',') words.shift();
    }
    words.shift();
    return first === '[' ? list : map;
  }

  #word(word: string): Yaml {
    const alias = /^\*(\w+)$/.exec(word)?.[1];
    if (alias !== undefined) {
      const found = this.#anchors.get(alias);
      if (found === undefined) throw new RangeError(`nobody is &${alias}`);
      return found;
    }
    if (/^[&!>%@`]/.test(word)) throw new RangeError(`not understood: ${word}`);
    return /^"[^"\\]*"$/.test(word) ? word.slice(1, -1) : word;
  }
}

/** What is merged yields to what is said. */
function put(map: YamlMap, key: string, value: Yaml): void {
  if (key !== '<<') {
    map[key] = value;
    return;
  }
  if (!isMap(value)) throw new RangeError('only maps are merged');
  for (const [name, one] of Object.entries(value)) map[name] ??= one;
}
