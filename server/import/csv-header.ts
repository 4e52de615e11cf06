// Parses the header of a CSV file and decides what each column is. A header has names of properties, and the
// columns `id`, `from`, `to`, `values` and `embed` if rows need them; a mapping can rename columns. A header
// in the form of Neo4j (`:ID`, `:LABEL`, `:START_ID`, `:END_ID`, `:TYPE`, `name:type`) describes its columns
// itself.
import {
  type ElementKind,
  type ElementType,
  type PropertyType,
  excerpt,
  nearestName,
} from '../../engine/internal.js';
import type { ReadDate } from './csv-date.js';
import { type Plain, type Print, bare, plainOf, printOf } from './csv-cell.js';

/** Settings for reading a CSV file. */
export interface CsvForm {
  delimiter: string;
  readDate: ReadDate;
  /** Type of all records; undefined if each record names its type in a column `:LABEL` or `:TYPE`. */
  type?: ElementType | undefined;
  typeOf: (kind: ElementKind, name: string) => ElementType | undefined;
  /** Property by column, where their names differ. */
  columns: ReadonlyMap<string, string>;
  /** Columns that are left out. */
  skip: ReadonlySet<string>;
  /** Columns by their purpose. */
  id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  listDelimiter?: string | undefined;
  /** Properties that identify endpoints, if names do not. */
  keys: { from?: PropertyType | undefined; to?: PropertyType | undefined };
}

/** The part of a row that a cell becomes. */
export interface CellUse {
  cell: number;
  name: string;
  /** `"name":` */
  key: string;
  print: Print;
  plain: Plain;
}

/** How a record of one type becomes a row. */
export interface RowShape {
  /** `{"node":"Person"` */
  start: string;
  heads: CellUse[];
  properties: CellUse[];
}

interface Column {
  cell: number;
  /** Columns as in the header, before the type is known. */
  name: string;
  role: 'id' | 'from' | 'to' | 'values' | 'embed' | 'type' | 'property';
  isList: boolean;
}

/** A type, and its properties by name. */
interface TypeOfRows {
  type: ElementType;
  properties: ReadonlyMap<string, ElementType['properties'][number]>;
}

const longHint =
  'The first record of a file is its header, or `header` in the file of `--mapping` names one.';

const heads: Record<ElementKind, ReadonlySet<string>> = {
  node: new Set(['id']),
  edge: new Set(['id', 'from', 'to']),
  vector: new Set(['id', 'values', 'embed']),
};

const marks = /^(.*):(ID|LABEL|START_ID|END_ID|TYPE|IGNORE)(?:\(.*\))?(?:\{.*\})?$/;

/**
 * Maximum length of a name, because the time of the pattern can grow with the square of the length.
 */
const nameMax = 1024;

const roles: Record<string, Column['role']> = {
  ID: 'id',
  LABEL: 'type',
  TYPE: 'type',
  START_ID: 'from',
  END_ID: 'to',
};

export const isNeo4j = (names: readonly string[]): boolean =>
  names.some((it) => it.length <= nameMax && marks.test(it));

/** `refuse` stops reading the file. */
export class CsvHeader {
  readonly width: number;
  /** Columns that name the type of each record. */
  readonly typeCell: number | undefined;
  readonly kind: ElementKind;
  readonly #columns: Column[];
  readonly #isNeo4j: boolean;
  /** Cells that are not properties. */
  readonly #roles = new Set<number>();
  readonly #shapes = new Map<string, RowShape | undefined>();

  constructor(
    cells: readonly string[],
    private readonly form: CsvForm,
    private readonly refuse: (what: string, hint?: string) => never,
  ) {
    const names = cells.map((cell) => cell.trim());
    this.width = names.length;
    const long = names.findIndex((name) => name.length > nameMax);
    if (long >= 0) {
      refuse(`the name of column ${long + 1} has ${names[long]!.length} characters`, longHint);
    }
    this.#isNeo4j = isNeo4j(names);
    this.#columns = names.flatMap((name, cell) => this.#column(name, cell));
    const isEdge = this.#columns.some(({ role }) => role === 'from' || role === 'to');
    this.kind = form.type?.kind ?? (isEdge ? 'edge' : 'node');
    const typed = this.#columns.find(({ role }) => role === 'type');
    this.typeCell = form.type === undefined ? typed?.cell : undefined;
    if (form.type === undefined && this.typeCell === undefined) {
      refuse('nothing says of which type its rows are');
    }
    const seen = new Set<string>();
    const twice = names.find((name) => {
      const isNew = seen.size < seen.add(name).size;
      return !isNew && !name.endsWith(':IGNORE');
    });
    for (const { cell, role } of this.#columns) if (role !== 'property') this.#roles.add(cell);
    if (twice !== undefined) refuse(`the column ${excerpt(twice)} stands there twice`);
    if (form.type) this.shapeOf(form.type.name);
  }

  /** Returns how to read records of a type, or undefined if the schema has no such type. */
  shapeOf(name: string): RowShape | undefined {
    if (!this.#shapes.has(name)) {
      const type = this.form.type ?? this.form.typeOf(this.kind, name);
      this.#shapes.set(name, type && this.#shape(type));
    }
    return this.#shapes.get(name);
  }

  #column(cellText: string, cell: number): Column[] {
    const { skip } = this.form;
    const mark = this.#isNeo4j ? marks.exec(cellText) : null;
    if (mark?.[2] === 'IGNORE') return [];
    const typed = this.#isNeo4j && !mark ? /^(.*?):([^:]*)$/.exec(cellText) : null;
    const name = mark?.[1] ?? typed?.[1] ?? cellText;
    if (skip.has(name) || skip.has(cellText)) return [];
    const isList = typed?.[2]?.includes('[]') === true || mark?.[2] === 'LABEL';
    const role = mark ? roles[mark[2]!]! : this.#roleOf(name);
    const own: Column[] = role === undefined ? [] : [{ cell, name, role, isList }];
    return name === '' && mark ? own : [...own, { cell, name, role: 'property', isList }];
  }

  /** Returns the purpose of a column by its name only. */
  #roleOf(name: string): Column['role'] | undefined {
    const { id, from, to, type, columns } = this.form;
    if (name === id) return 'id';
    if (name === from) return 'from';
    if (name === to) return 'to';
    if (type === undefined || !heads[type.kind].has(name)) return undefined;
    const isReserved = { id, from, to }[name] !== undefined;
    const isProperty = !columns.has(name) && type.properties.some((one) => one.name === name);
    return isReserved || isProperty ? undefined : (name as Column['role']);
  }

  #shape(type: ElementType): RowShape {
    const start = `{"${type.kind}":${JSON.stringify(type.name)}`;
    const shape: RowShape = { start, heads: [], properties: [] };
    const properties = new Map(type.properties.map((one) => [one.name, one]));
    for (const column of this.#columns) {
      if (column.role === 'property') this.#property(shape, { type, properties }, column);
      else if (column.role !== 'type') shape.heads.push(this.#head(column.cell, column.role));
    }
    return shape;
  }

  #property(shape: RowShape, { type, properties }: TypeOfRows, column: Column): void {
    const { columns } = this.form;
    const name = columns.get(column.name) ?? column.name;
    const property = properties.get(name);
    if (property !== undefined) {
      const listDelimiter = this.form.listDelimiter ?? (column.isList ? ';' : undefined);
      const print = printOf(property.type, { readDate: this.form.readDate, listDelimiter });
      shape.properties.push(useOf(column.cell, name, print, plainOf(property.type)));
      return;
    }
    // A column that names the row or an endpoint need not be a property too.
    if (this.#roles.has(column.cell) && !columns.has(column.name)) return;
    if (this.typeCell === undefined) {
      const as = columns.has(column.name) ? ` for ${excerpt(name)}` : '';
      const known = `${type.name} has no such property`;
      const what = `there is a column ${excerpt(column.name)}${as}; ${known}`;
      this.refuse(what, columnHint(column.name, name, type));
    }
    shape.properties.push(useOf(column.cell, name, JSON.stringify, 'text'));
  }

  #head(cell: number, name: string): CellUse {
    if (name === 'values') return useOf(cell, name, bare, 'none');
    const key = name === 'from' || name === 'to' ? this.form.keys[name] : undefined;
    if (key === undefined) return useOf(cell, name, JSON.stringify, 'text');
    const print = printOf(key, { readDate: this.form.readDate });
    return useOf(cell, name, print, plainOf(key));
  }
}

/** Hint for a column that is no property of the type: what a mapping can say about it. */
function columnHint(column: string, name: string, { properties }: ElementType): string {
  const near = nearestName(
    name,
    properties.map((one) => one.name),
  );
  const key = /^[\w-]+$/.test(column) ? column : JSON.stringify(column);
  const leave = `\`skip = [${JSON.stringify(column)}]\` in the file of \`--mapping\` leaves it out`;
  const rename = `\`columns = { ${key} = "${near ?? 'PROPERTY'}" }\` there says which property it is`;
  return `${leave}; ${rename}.`;
}

function useOf(cell: number, name: string, print: Print, plain: Plain): CellUse {
  return { cell, name, key: `${JSON.stringify(name)}:`, print, plain };
}
