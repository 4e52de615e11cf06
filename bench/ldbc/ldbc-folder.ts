// Reads a folder with an LDBC SNB topology: which files contain which types, and what their columns are.
// Creates the project and the mapping with which `trellis import` loads it.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Expected } from './ldbc-oracle.js';
import { queryText } from './ldbc-query.js';
import { edgeEnds, edgeProperties, nodeProperties } from './ldbc-shape.js';

/** Columns whose names the language keeps for itself, as properties. */
const renamed: Readonly<Record<string, string>> = { type: 'kind', label: 'title', data: 'content' };

export interface TypeFile {
  type: string;
  path: string;
  delimiter: string;
  /** Columns behind the ids, and their types. */
  columns: Map<string, 'I64' | 'String'>;
}

export interface LdbcFolder {
  nodes: TypeFile[];
  edges: TypeFile[];
  expected: Record<string, Expected[]>;
  /** HelixQL: schema and queries. */
  source: string;
  /** For `trellis import --mapping`. */
  mapping: string;
}

export function readFolder(folder: string): LdbcFolder {
  const read = (kind: string, known: object, ids: number): TypeFile[] =>
    readdirSync(join(folder, kind))
      .filter((name) => /\.(csv|tsv)$/.test(name))
      .flatMap((name) => readHead(resolve(folder, kind, name), Object.keys(known), ids));
  const nodes = read('nodes', nodeProperties, 1);
  const edges = read('edges', edgeEnds, 2);
  const path = join(folder, 'expected.json');
  const expected = existsSync(path) ? readExpected(path) : {};
  return {
    nodes,
    edges,
    expected,
    source: sourceOf(nodes, edges),
    mapping: mappingOf(nodes, edges),
  };
}

/** Calls by query; other programs call arguments `params` and rows `result`. */
function readExpected(path: string): Record<string, Expected[]> {
  const all = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, unknown>[]>;
  const calls = Object.entries(all).map(([name, list]) => {
    const read = list.map(({ args, params, rows, result }) => {
      return { args: args ?? params, rows: rows ?? result } as Expected;
    });
    if (read.some((call) => typeof call.args !== 'object' || !Array.isArray(call.rows))) {
      throw new TypeError(`${path}: ${name} must be a list of {"args": {...}, "rows": [...]}`);
    }
    return [name, read] as const;
  });
  return Object.fromEntries(calls);
}

/** None for a file whose type is not of this shape: it is named and left out. */
function readHead(path: string, known: readonly string[], ids: number): TypeFile[] {
  const name = basename(path).replace(/(_\d+)*\.[^.]*$/, '');
  const type = known.find((each) => each.toLowerCase() === name.toLowerCase());
  if (type === undefined) {
    console.log(`${path} is left out: no query is about ${name}`);
    return [];
  }
  const [header = '', ...lines] = firstLines(path);
  const delimiter = ['|', ';', '\t'].find((each) => header.includes(each)) ?? ',';
  const cells = lines.filter((line) => !line.includes('"')).map((line) => line.split(delimiter));
  const columns = header.split(delimiter).map((column, at): [string, 'I64' | 'String'] => {
    const values = cells.map((row) => row[at] ?? '').filter((value) => value !== '');
    const isNumber = values.length > 0 && values.every((value) => /^-?\d{1,18}$/.test(value));
    return [column, isNumber ? 'I64' : 'String'];
  });
  return [{ type, path, delimiter, columns: new Map(columns.slice(ids)) }];
}

/** Whole lines within the first 64 KiB. */
function firstLines(path: string): string[] {
  const bytes = Buffer.alloc(65_536);
  const file = openSync(path, 'r');
  const length = readSync(file, bytes);
  closeSync(file);
  const lines = bytes.toString('utf8', 0, length).split(/\r?\n/);
  if (length === bytes.length) lines.pop();
  return lines.filter((line) => line !== '');
}

function sourceOf(nodes: readonly TypeFile[], edges: readonly TypeFile[]): string {
  const declared = (files: readonly TypeFile[], type: string, known: object | undefined) => {
    const found = files.find((file) => file.type === type)?.columns ?? [];
    const own = [...found].map(([column, kind]) => [renamed[column] ?? column, kind] as const);
    const all = new Map<string, string>([...own, ...Object.entries(known ?? {})]);
    return [...all].map(([name, kind]) => {
      return type === 'TagClass' && name === 'name' ? `INDEX name: ${kind}` : `${name}: ${kind}`;
    });
  };
  const types = Object.entries(nodeProperties).map(([type, known]) => {
    const properties = ['UNIQUE INDEX ldbcId: I64', ...declared(nodes, type, known)];
    return `N::${type} { ${properties.join(', ')} }`;
  });
  const links = Object.entries(edgeEnds).map(([type, [from, to]]) => {
    const properties = declared(edges, type, edgeProperties[type]).join(', ');
    const tail = properties === '' ? '' : `, Properties: { ${properties} }`;
    return `E::${type} { From: ${from}, To: ${to}${tail} }`;
  });
  return `${types.join('\n')}\n${links.join('\n')}\n${queryText}`;
}

function mappingOf(nodes: readonly TypeFile[], edges: readonly TypeFile[]): string {
  const entry = (kind: string, { path, type, delimiter, columns }: TypeFile): string => {
    const names = new Map<string, string>(kind === 'node' ? [['id', 'ldbcId']] : []);
    for (const name of columns.keys()) if (renamed[name]) names.set(name, renamed[name]);
    const lines = [
      '[[files]]',
      `path = "${kind}s/${basename(path)}"`,
      `${kind} = "${type}"`,
      `delimiter = ${JSON.stringify(delimiter)}`,
    ];
    if (kind === 'node') lines.push('id = "id"');
    const pairs = [...names].map(([name, property]) => `${name} = "${property}"`);
    if (pairs.length > 0) lines.push(`columns = { ${pairs.join(', ')} }`);
    return `${lines.join('\n')}\n`;
  };
  const files = [
    ...nodes.map((file) => entry('node', file)),
    ...edges.map((file) => entry('edge', file)),
  ];
  return files.join('\n');
}

/** What `trellis import` needs, in a folder; gives the path of the mapping. */
export function writeProject(folder: string, { source, mapping }: LdbcFolder): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.hx'), source);
  const map = join(folder, 'map.toml');
  writeFileSync(map, mapping);
  return map;
}
