// Converts CSV into rows of a bulk load: every record becomes one NDJSON line. The declared type of a column
// decides how a cell is read. An empty cell without quotes is an unset property. Invariant: a record that
// does not fit its type becomes a row that is refused.
import { excerpt } from '../../engine/internal.js';
import type { Refusal } from './csv-cell.js';
import { type CellUse, type CsvForm, CsvHeader, type RowShape } from './csv-header.js';
import { CsvRecords, type CsvError, type Slab } from './csv-records.js';
import { RowBytes } from './row-bytes.js';

/** Converts a CSV file to NDJSON block by block. A record can span blocks. */
export class CsvReader {
  #header: CsvHeader | undefined;
  readonly #records: CsvRecords;
  readonly #rows = new RowBytes();
  #count = 0;
  #lastLine = 0;
  /**
   * [record, line] pairs: from this record on, the line number differs from the record number by another
   * amount.
   */
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

  /** Whether the header was read and is valid. */
  get isOpen(): boolean {
    return this.#header !== undefined;
  }

  /** Returns the line of the file on which a record starts. The header is no record. */
  lineOf(record: number): number {
    // Every record can have such a pair, and a line can be requested for any record.
    let below = 0;
    for (let above = this.#jumps.length; below < above; ) {
      const middle = (below + above) >> 1;
      if (this.#jumps[middle]![0] <= record) below = middle + 1;
      else above = middle;
    }
    const jump = this.#jumps[below - 1];
    return jump === undefined ? record + 1 : jump[1] + record - jump[0];
  }

  #slab({ bytes, starts, ends, counts, lines, errors }: Slab): void {
    let cell = 0;
    for (let record = 0; record < counts.length; record++) {
      const count = counts[record]!;
      const line = lines[record]!;
      const error = errors.get(record);
      if (this.#header === undefined) {
        if (error) this.#records.refuse(line, `the header must be ${error.allowed}`, fileHint);
        const names: string[] = [];
        for (let at = cell; at < cell + count; at++)
          names.push(textOf(bytes, starts[at]!, ends[at]!));
        this.#open(names, line);
      } else {
        this.#setLine(line);
        if (error) this.#refuseRecord(error);
        else this.#cells(bytes, starts, ends, cell, count);
      }
      cell += count;
    }
  }

  /** Records where the next record starts. */
  #setLine(line: number): void {
    if (line !== this.#lastLine + 1) this.#jumps.push([this.#count + 1, line]);
    this.#lastLine = line;
    this.#count++;
  }

  #open(cells: readonly string[], line: number): void {
    this.#header = new CsvHeader(cells, this.form, (...why) => this.#records.refuse(line, ...why));
    this.#lastLine = line;
  }

  /** Converts the record of `count` cells that starts at cell `first`. */
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

  /** Returns false if the row was refused because of the cell. */
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

  /** Returns how to read the record, or undefined if its row was refused. */
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

  /** Converts a malformed record. */
  #refuseRecord({ allowed, text }: CsvError): void {
    this.#refuse({ param: 'record', allowed, got: text }, text);
  }

  /** Adds a line that the load refuses for this reason. `record` is the text in the file. */
  #refuse({ param, allowed, got }: Refusal, record?: string): void {
    const refused = { param, allowed, got: excerpt(got), ...(record !== undefined && { record }) };
    this.#rows.text(`${JSON.stringify({ refused })}\n`);
  }
}

const comma = 0x2c;
const quote = 0x22;

const fileHint = 'Is the file UTF-8, and its delimiter the right one?';

/** Returns the content of a cell without its quotes. */
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
