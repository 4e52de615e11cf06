// CSV into rows of a bulk load: every record becomes one NDJSON line. What a cell means is decided by
// the declared type of its column; an empty cell without quotes is an unset property.
//
// Invariant: a record that cannot be meant as it stands is a row that is refused.
import { excerpt } from '../../engine/internal.js';
import type { Refusal } from './csv-cell.js';
import { type CellUse, type CsvForm, CsvHeader, type RowShape } from './csv-header.js';
import { CsvRecords, type Fault, type Slab } from './csv-records.js';
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

  /** Whether its header was read, and can be kept to. */
  get isOpen(): boolean {
    return this.#header !== undefined;
  }

  /** The line of the file on which a record starts; the header is no record. */
  lineOf(record: number): number {
    // Every record may have one, and be asked for.
    let below = 0;
    for (let above = this.#jumps.length; below < above; ) {
      const middle = (below + above) >> 1;
      if (this.#jumps[middle]![0] <= record) below = middle + 1;
      else above = middle;
    }
    const jump = this.#jumps[below - 1];
    return jump === undefined ? record + 1 : jump[1] + record - jump[0];
  }

  #slab({ bytes, starts, ends, counts, lines, faults }: Slab): void {
    let cell = 0;
    for (let record = 0; record < counts.length; record++) {
      const count = counts[record]!;
      const line = lines[record]!;
      const fault = faults.get(record);
      if (this.#header === undefined) {
        if (fault) this.#records.refuse(line, `the header must be ${fault.allowed}`, fileHint);
        const names: string[] = [];
        for (let at = cell; at < cell + count; at++)
          names.push(textOf(bytes, starts[at]!, ends[at]!));
        this.#open(names, line);
      } else {
        this.#place(line);
        if (fault) this.#refuseRecord(fault);
        else this.#cells(bytes, starts, ends, cell, count);
      }
      cell += count;
    }
  }

  /** Notes where the next record starts. */
  #place(line: number): void {
    if (line !== this.#lastLine + 1) this.#jumps.push([this.#count + 1, line]);
    this.#lastLine = line;
    this.#count++;
  }

  #open(cells: readonly string[], line: number): void {
    this.#header = new CsvHeader(cells, this.form, (...why) => this.#records.refuse(line, ...why));
    this.#lastLine = line;
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
    const inside = bytes[start] === quote ? 1 : 0;
    const [from, to] = [start + inside, end - inside];
    if (use.plain === 'text' && rows.plainText(bytes, from, to)) return true;
    if (use.plain === 'integer' && rows.integer(bytes, from, to)) return true;
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

  /** One that cannot be taken apart. */
  #refuseRecord({ allowed, text }: Fault): void {
    this.#refuse({ param: 'record', allowed, got: text }, text);
  }

  /** A line that the load refuses for this reason; `record` is what stands in the file. */
  #refuse({ param, allowed, got }: Refusal, record?: string): void {
    const refused = { param, allowed, got: excerpt(got), ...(record !== undefined && { record }) };
    this.#rows.text(`${JSON.stringify({ refused })}\n`);
  }
}

const comma = 0x2c;
const quote = 0x22;

const fileHint = 'Is the file UTF-8, and its delimiter the right one?';

/** What a cell holds, without its quotes. */
function textOf(bytes: Uint8Array, start: number, end: number): string {
  const isQuoted = start < end && bytes[start] === quote;
  const [from, to] = isQuoted ? [start + 1, end - 1] : [start, end];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString();
  return isQuoted ? text.replaceAll('""', '"') : text;
}

const widthRefusal = ({ width }: CsvHeader, got: number): Refusal => ({
  param: 'row',
  allowed: `a record of ${width} cells, as the header has`,
  got: String(got),
});
