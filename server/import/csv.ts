// CSV (RFC 4180) into rows of a bulk load: the header names properties, and `id`, `from`, `to`,
// `values`, `embed` where rows have them; every record becomes one NDJSON line. What a cell means is
// decided by the declared type of its column; an empty cell without quotes is an unset property.
//
// Invariant: no record is merged, cut or dropped without a word: where the file cannot be taken apart
// reading ends with its place; a record that cannot be meant as it stands is a row that is refused.
import { isUtf8 } from 'node:buffer';
import { Parser } from 'csv-parse';
import { type ElementType, type PropertyType, excerpt, fail } from '../../engine/index.js';
import { type ReadDate, plainDate } from './csv-date.js';

const heads: Record<ElementType['kind'], ReadonlySet<string>> = {
  node: new Set(['id']),
  edge: new Set(['id', 'from', 'to']),
  vector: new Set(['id', 'values', 'embed']),
};

/** More than an element may take: a quote that is never closed. */
const recordCharacters = 64 * 1024 * 1024;

/** What a row needs in place of a cell that cannot be meant as it stands. */
interface Refusal {
  param: string;
  allowed: string;
  got: string;
}

/** JSON of a cell. */
type Print = (cell: string) => string | Refusal;

interface Column {
  name: string;
  isHead: boolean;
  print: Print;
}

interface CsvRecord {
  record: string[];
  raw: string;
}

/** Turns blocks of a CSV file into NDJSON, block by block; a record may span blocks. */
export class CsvReader {
  #columns: Column[] | undefined;
  readonly #parser: Parser;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** Lines in the blocks before. */
  #lines = 0;

  constructor(
    private readonly path: string,
    private readonly type: ElementType,
    private readonly readDate: ReadDate = plainDate,
  ) {
    this.#parser = new Parser({
      bom: true,
      raw: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      max_record_size: recordCharacters,
    });
    // It is looked at after each block.
    this.#parser.on('error', () => undefined);
  }

  read(bytes: Uint8Array): Uint8Array {
    this.#check(bytes);
    this.#parser.write(bytes);
    return this.#lineOfEach();
  }

  async end(): Promise<Uint8Array> {
    this.#decode(new Uint8Array(0), false);
    this.#parser.end();
    // The parser looks at its end in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
    return this.#lineOfEach();
  }

  /** What no text of records holds, told before it can be taken for some. */
  #check(bytes: Uint8Array): void {
    const zero = bytes.indexOf(0);
    if (zero >= 0) {
      this.#refuseFile(this.#lineAt(bytes, zero), 'a zero byte; is the file UTF-16?');
    }
    this.#decode(bytes, true);
    this.#lines = this.#lineAt(bytes, bytes.length) - 1;
  }

  #decode(bytes: Uint8Array, stream: boolean): void {
    try {
      this.#decoder.decode(bytes, { stream });
    } catch {
      this.#refuseFile(this.#lines + 1 + linesBeforeFault(bytes), 'bytes that are no UTF-8');
    }
  }

  /** The line on which the byte `at` of a block stands. */
  #lineAt(bytes: Uint8Array, at: number): number {
    let line = this.#lines + 1;
    for (let i = bytes.indexOf(10); i >= 0 && i < at; i = bytes.indexOf(10, i + 1)) line++;
    return line;
  }

  #refuseFile(line: number, what: string): never {
    return fail('CONFIG_INVALID', { what: `${this.path}, line ${line}: ${what}.` });
  }

  #lineOfEach(): Uint8Array {
    const lines: string[] = [];
    for (let one = this.#next(); one !== null; one = this.#next()) {
      const line = this.#record(one);
      if (line !== undefined) lines.push(line);
    }
    const { errored, info } = this.#parser;
    if (errored) {
      const { message, index } = errored as Error & { index?: number };
      const column = index === undefined ? '' : `, column ${index + 1}`;
      this.#refuseFile(info.lines, `${message}${column}`);
    }
    return Buffer.from(lines.join(''));
  }

  #next(): CsvRecord | null {
    return this.#parser.read() as CsvRecord | null;
  }

  #record({ record: cells, raw }: CsvRecord): string | undefined {
    if (this.#columns === undefined) {
      this.#columns = this.#header(cells);
      return undefined;
    }
    const columns = this.#columns;
    if (cells.length === 1 && cells[0] === '' && !raw.includes('"')) return '\n';
    if (cells.length !== columns.length) {
      const allowed = `a record of ${columns.length} cells, as the header has`;
      return refusalOf({ param: 'row', allowed, got: String(cells.length) });
    }
    const row: string[] = [`"${this.type.kind}":${JSON.stringify(this.type.name)}`];
    const properties: string[] = [];
    let quoted: boolean[] | undefined;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i]!;
      if (cell === '' && !(quoted ??= emptyQuotes(raw, cells.length))[i]) continue;
      const { name, isHead, print } = columns[i]!;
      const printed = print(cell);
      if (typeof printed !== 'string') return refusalOf({ ...printed, param: name });
      (isHead ? row : properties).push(`${JSON.stringify(name)}:${printed}`);
    }
    return `{${row.join(',')},"properties":{${properties.join(',')}}}\n`;
  }

  #header(cells: readonly string[]): Column[] {
    const columns = cells.map((cell) => this.#column(cell.trim()));
    const twice = columns.find(({ name }, i) => columns.findIndex((o) => o.name === name) !== i);
    if (twice) this.#refuseFile(1, `the column ${excerpt(twice.name)} stands there twice`);
    return columns;
  }

  #column(name: string): Column {
    const property = this.type.properties.find((one) => one.name === name);
    const isHead = property === undefined && heads[this.type.kind].has(name);
    if (isHead) return { name, isHead, print: name === 'values' ? bare : JSON.stringify };
    if (property === undefined) {
      const known = `${this.type.name} has no such property`;
      this.#refuseFile(1, `there is a column ${excerpt(name)}; ${known}`);
    }
    return { name, isHead, print: printOf(property!.type, this.readDate) };
  }
}

/** How many lines of a block come before the first that is no UTF-8. */
function linesBeforeFault(bytes: Uint8Array): number {
  // The block may begin within a character.
  let start = 0;
  while (start < 3 && start < bytes.length && bytes[start]! >> 6 === 2) start++;
  for (let line = 0; ; line++) {
    const end = bytes.indexOf(10, start);
    if (end < 0) return line;
    if (!isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

/** A line that the load refuses for this reason. */
function refusalOf({ param, allowed, got }: Refusal): string {
  return `${JSON.stringify({ refused: { param, allowed, got: excerpt(got) } })}\n`;
}

/** A number, boolean or list stands for itself if it is JSON; else the row is refused for its type. */
const bare: Print = (cell) => {
  try {
    JSON.parse(cell);
    return cell.replace(/[\r\n]/g, ' ');
  } catch {
    return JSON.stringify(cell);
  }
};

function printOf(type: PropertyType, readDate: ReadDate): Print {
  if (type.kind === 'list') return bare;
  if (type.name === 'String' || type.name === 'ID') return JSON.stringify;
  if (type.name === 'Date') return (cell) => printDate(cell, readDate);
  return bare;
}

function printDate(cell: string, readDate: ReadDate): string | Refusal {
  const { date, allowed } = readDate(cell.trim());
  return date === undefined ? { param: '', allowed, got: cell } : JSON.stringify(date);
}

/** Which cells of a record are a pair of quotes around nothing. */
function emptyQuotes(raw: string, count: number): boolean[] {
  const found = new Array<boolean>(count).fill(false);
  if (!raw.includes('""')) return found;
  let cell = 0;
  let start = 0;
  let isInside = false;
  for (let at = 0; at <= raw.length && cell < count; at++) {
    if (raw[at] === '"') isInside = !isInside;
    if (at < raw.length && (isInside || raw[at] !== ',')) continue;
    found[cell++] = raw.slice(start, at).trim() === '""';
    start = at + 1;
  }
  return found;
}
