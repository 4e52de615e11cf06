// CSV into rows of a bulk load: every record becomes one NDJSON line. What a cell means is decided by
// the declared type of its column; an empty cell without quotes is an unset property.
//
// Invariant: a record that cannot be meant as it stands is a row that is refused.
import { excerpt } from '../../engine/index.js';
import type { Refusal } from './csv-cell.js';
import { type CellUse, type CsvForm, CsvHeader, type RowShape } from './csv-header.js';
import { CsvRecords, type QuotedRecord, type Slab } from './csv-records.js';
import { RowBytes } from './row-bytes.js';

/** Turns blocks of a CSV file into NDJSON, block by block; a record may span blocks. */
export class CsvReader {
  #header: CsvHeader | undefined;
  readonly #records: CsvRecords;
  readonly #rows = new RowBytes();
  #count = 0;
  #lastLine = 0;
  /** [record, line] from where on records are further down than their numbers say. */
  readonly #jumps: [number, number][] = [];

  constructor(
    path: string,
    private readonly form: CsvForm,
  ) {
    this.#records = new CsvRecords(path, form.delimiter);
  }

  read(bytes: Uint8Array): Uint8Array {
    for (const slab of this.#records.read(bytes)) this.#slab(slab);
    return this.#rows.take();
  }

  end(): Uint8Array {
    for (const slab of this.#records.end()) this.#slab(slab);
    return this.#rows.take();
  }

  /** The line of the file on which a record starts; the header is no record. */
  lineOf(record: number): number {
    const jump = this.#jumps.findLast(([first]) => first <= record);
    return jump === undefined ? record + 1 : jump[1] + record - jump[0];
  }

  #slab(slab: Slab): void {
    if (slab.plain !== undefined) this.#plain(slab);
    else this.#quoted(slab.records, slab.line);
  }

  /** Notes where the next record starts. */
  #place(line: number): void {
    if (line !== this.#lastLine + 1) this.#jumps.push([this.#count + 1, line]);
    this.#lastLine = line;
    this.#count++;
  }

  #quoted(records: readonly QuotedRecord[], first: number): void {
    let line = first;
    for (const { record, raw } of records) {
      if (this.#header === undefined) this.#open(record, line);
      else {
        this.#place(line);
        this.#record(record, raw);
      }
      line += linesOf(raw);
    }
  }

  #open(cells: readonly string[], line: number): void {
    this.#header = new CsvHeader(cells, this.form, (...why) => this.#records.refuse(line, ...why));
    this.#lastLine = line;
  }

  #record(cells: readonly string[], raw: string): void {
    const rows = this.#rows;
    const header = this.#header!;
    if (cells.length === 1 && cells[0] === '' && !raw.includes('"')) return rows.text('\n');
    if (cells.length !== header.width) return this.#refuse(widthRefusal(header, cells.length));
    const shape = this.#shapeOf(header.typeCell === undefined ? '' : cells[header.typeCell]!);
    if (shape === undefined) return;
    const start = rows.length;
    let quoted: boolean[] | undefined;
    const isUnset = (cell: number): boolean =>
      cells[cell] === '' && !(quoted ??= emptyQuotes(raw, cells.length, this.form.delimiter))[cell];
    const put = (use: CellUse, isFirst: boolean): boolean => {
      const printed = use.print(cells[use.cell]!);
      if (typeof printed === 'string') rows.text(`${isFirst ? '' : ','}${use.key}${printed}`);
      else this.#takeBack(start, { ...printed, param: use.name });
      return typeof printed === 'string';
    };
    rows.text(shape.start);
    for (const use of shape.heads) if (!isUnset(use.cell) && !put(use, false)) return;
    rows.text(',"properties":{');
    let isFirst = true;
    for (const use of shape.properties) {
      if (isUnset(use.cell)) continue;
      if (!put(use, isFirst)) return;
      isFirst = false;
    }
    rows.text('}}\n');
  }

  #plain({ plain: bytes, starts, ends, counts, line }: Slab & { plain: Uint8Array }): void {
    let cell = 0;
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i]!;
      if (this.#header === undefined) {
        const names: string[] = [];
        for (let at = cell; at < count; at++) names.push(textOf(bytes, starts[at]!, ends[at]!));
        this.#open(names, line + i);
      } else {
        this.#place(line + i);
        this.#cells(bytes, starts, ends, cell, count);
      }
      cell += count;
    }
  }

  /** The record of `count` cells from the `first` on. */
  #cells(
    bytes: Uint8Array,
    starts: readonly number[],
    ends: readonly number[],
    first: number,
    count: number,
  ): void {
    const rows = this.#rows;
    const header = this.#header!;
    if (count === 1 && starts[first] === ends[first]) return rows.text('\n');
    if (count !== header.width) return this.#refuse(widthRefusal(header, count));
    const { typeCell } = header;
    const typed = typeCell === undefined ? -1 : first + typeCell;
    const name = typed < 0 ? '' : textOf(bytes, starts[typed]!, ends[typed]!);
    const shape = this.#shapeOf(name);
    if (shape === undefined) return;
    const start = rows.length;
    rows.text(shape.start);
    for (const use of shape.heads) {
      const at = first + use.cell;
      if (starts[at] === ends[at]) continue;
      rows.byte(comma);
      if (!this.#cell(use, bytes, starts[at]!, ends[at]!, start)) return;
    }
    rows.text(',"properties":{');
    let isFirst = true;
    for (const use of shape.properties) {
      const at = first + use.cell;
      if (starts[at] === ends[at]) continue;
      if (!isFirst) rows.byte(comma);
      isFirst = false;
      if (!this.#cell(use, bytes, starts[at]!, ends[at]!, start)) return;
    }
    rows.text('}}\n');
  }

  /** False when the row was refused for it. */
  #cell(use: CellUse, bytes: Uint8Array, start: number, end: number, row: number): boolean {
    const rows = this.#rows;
    rows.text(use.key);
    if (use.plain === 'text' && rows.plainText(bytes, start, end)) return true;
    if (use.plain === 'integer' && rows.integer(bytes, start, end)) return true;
    const printed = use.print(textOf(bytes, start, end));
    if (typeof printed === 'string') rows.text(printed);
    else this.#takeBack(row, { ...printed, param: use.name });
    return typeof printed === 'string';
  }

  /** How the record is read; undefined when its row was refused. */
  #shapeOf(labels: string): RowShape | undefined {
    const header = this.#header!;
    if (header.typeCell === undefined) return header.shapeOf('');
    for (const label of labels.split(';')) {
      const shape = header.shapeOf(label.trim());
      if (shape) return shape;
    }
    const param = header.kind === 'edge' ? ':TYPE' : ':LABEL';
    this.#refuse({ param, allowed: `a type of ${header.kind}s in the schema`, got: labels });
    return undefined;
  }

  #takeBack(start: number, refusal: Refusal): void {
    this.#rows.length = start;
    this.#refuse(refusal);
  }

  /** A line that the load refuses for this reason. */
  #refuse({ param, allowed, got }: Refusal): void {
    const refused = { param, allowed, got: excerpt(got) };
    this.#rows.text(`${JSON.stringify({ refused })}\n`);
  }
}

const comma = 0x2c;

const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();

const widthRefusal = ({ width }: CsvHeader, got: number): Refusal => ({
  param: 'row',
  allowed: `a record of ${width} cells, as the header has`,
  got: String(got),
});

const linesOf = (raw: string): number => raw.match(/\r\n|\n|\r/g)?.length ?? 0;

/** Which cells of a record are a pair of quotes around nothing. */
function emptyQuotes(raw: string, count: number, delimiter: string): boolean[] {
  const found = new Array<boolean>(count).fill(false);
  if (!raw.includes('""')) return found;
  let cell = 0;
  let start = 0;
  let isInside = false;
  for (let at = 0; at <= raw.length && cell < count; at++) {
    if (raw[at] === '"') isInside = !isInside;
    if (at < raw.length && (isInside || raw[at] !== delimiter)) continue;
    found[cell++] = raw.slice(start, at).trim() === '""';
    start = at + 1;
  }
  return found;
}
