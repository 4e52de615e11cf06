// CSV (RFC 4180) into rows of a bulk load: the header names properties, and `id`, `from`, `to`,
// `values`, `embed` where rows have them; every record becomes one NDJSON line. What a cell means is
// decided by the declared type of its column; an empty cell without quotes is an unset property.
import { type ElementType, type PropertyType, fail } from '../engine/index.js';

const quote = 0x22;
const comma = 0x2c;
const newline = 0x0a;
const carriage = 0x0d;

const heads: Record<ElementType['kind'], ReadonlySet<string>> = {
  node: new Set(['id']),
  edge: new Set(['id', 'from', 'to']),
  vector: new Set(['id', 'values', 'embed']),
};

type Print = (cell: string) => string;

/** Turns pieces of a CSV file into NDJSON, piece by piece; a record may span pieces. */
export class CsvReader {
  #columns: { name: string; isHead: boolean; print: Print }[] | undefined;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(private readonly type: ElementType) {}

  read(bytes: Uint8Array): Uint8Array {
    return this.#records(Buffer.concat([this.#rest, bytes]), false);
  }

  end(): Uint8Array {
    return this.#records(this.#rest, true);
  }

  #records(bytes: Uint8Array, isLast: boolean): Uint8Array {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = recordEnd(bytes, start);
      if (end < 0 && !(isLast && start < bytes.length)) break;
      const stop = end < 0 ? bytes.length : end;
      const line = this.#record(cellsOf(bytes, start, stop));
      if (line !== undefined) lines.push(line);
      start = stop + 1;
    }
    this.#rest = bytes.slice(Math.min(start, bytes.length));
    return Buffer.from(lines.join(''));
  }

  #record(cells: Cell[]): string | undefined {
    if (this.#columns === undefined) {
      this.#columns = cells.map(({ text }) => this.#column(text.replace(/^\ufeff/, '').trim()));
      return undefined;
    }
    const row: string[] = [`"${this.type.kind}":${JSON.stringify(this.type.name)}`];
    const properties: string[] = [];
    // Cells beyond the header are kept under a name that no type has: the row is refused for it.
    cells.forEach(({ text, quoted }, i) => {
      if (text === '' && !quoted) return;
      const { name, isHead, print } = this.#columns![i] ?? surplus;
      (isHead ? row : properties).push(`${JSON.stringify(name)}:${print(text)}`);
    });
    if (cells.length === 1 && cells[0]!.text === '' && !cells[0]!.quoted) return '\n';
    return `{${row.join(',')},"properties":{${properties.join(',')}}}\n`;
  }

  #column(name: string): { name: string; isHead: boolean; print: Print } {
    const property = this.type.properties.find((one) => one.name === name);
    const isHead = property === undefined && heads[this.type.kind].has(name);
    if (isHead) return { name, isHead, print: name === 'values' ? bare : JSON.stringify };
    if (property === undefined) {
      const what = `The CSV file has a column ${name}; ${this.type.name} has no such property.`;
      return fail('CONFIG_INVALID', { what });
    }
    return { name, isHead, print: printOf(property.type) };
  }
}

const surplus = { name: '', isHead: false, print: JSON.stringify as Print };

/** A number, boolean or list stands for itself if it is JSON; else the row is refused for its type. */
const bare: Print = (cell) => {
  try {
    JSON.parse(cell);
    return cell.replace(/[\r\n]/g, ' ');
  } catch {
    return JSON.stringify(cell);
  }
};

function printOf(type: PropertyType): Print {
  if (type.kind === 'list') return bare;
  if (type.name === 'String' || type.name === 'ID') return JSON.stringify;
  if (type.name === 'Date') return (cell) => (/^-?\d+$/.test(cell) ? cell : JSON.stringify(cell));
  return bare;
}

/** Where the record that begins at `start` ends: its newline outside of quotes, -1 without one. */
function recordEnd(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(newline, start);
  let at = bytes.indexOf(quote, start);
  let isInside = false;
  for (; end >= 0; end = bytes.indexOf(newline, end + 1)) {
    for (; at >= 0 && at < end; at = bytes.indexOf(quote, at + 1)) isInside = !isInside;
    if (!isInside) return end;
  }
  return -1;
}

interface Cell {
  text: string;
  quoted: boolean;
}

function cellsOf(bytes: Uint8Array, start: number, end: number): Cell[] {
  if (end > start && bytes[end - 1] === carriage) end--;
  const cells: Cell[] = [];
  for (let at = start; ; ) {
    const quoted = bytes[at] === quote && at < end;
    const stop = quoted ? quotedEnd(bytes, at + 1, end) : at;
    let cut = bytes.indexOf(comma, stop);
    if (cut < 0 || cut > end) cut = end;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, cut - at).toString();
    cells.push({ text: quoted ? unquoted(text) : text, quoted });
    if (cut === end) return cells;
    at = cut + 1;
  }
}

/** The place after the closing quote. */
function quotedEnd(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (bytes[at] !== quote) continue;
    if (bytes[at + 1] !== quote) return at + 1;
    at++;
  }
  return end;
}

const unquoted = (text: string): string => text.replace(/^"|"[ \t]*$/g, '').replaceAll('""', '"');
