// Decides which files an import reads, in which order, and what their rows are: by the words of the command
// (`FILE`, `TYPE=FILE`, a folder), its flags, and the mapping. Files of edges come last, independently of the
// order on the command line.
import { closeSync, existsSync, openSync, readSync, readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import {
  type ElementKind,
  type ElementType,
  type PropertyType,
  type Schema,
  excerpt,
  fail,
} from '../../engine/internal.js';
import { dateReader, plainDate } from './csv-date.js';
import { type CsvForm, isNeo4j } from './csv-header.js';
import { type FileSettings, type ImportMap, fits, kinds } from './import-map.js';

export interface ImportFile {
  path: string;
  bytes: number;
  settings: FileSettings;
  /** Type of the rows, if it is known. */
  type?: ElementType | undefined;
  /** How to read a CSV file; absent for NDJSON. */
  form?: CsvForm;
  header?: string | undefined;
  isEdges: boolean;
}

/** Flags and words of the command. */
export interface FileWords {
  /** `FILE`, `TYPE=FILE` or a folder. */
  words: readonly string[];
  flags: FileSettings;
  map?: ImportMap | undefined;
}

interface Found {
  path: string;
  type?: string | undefined;
  settings: FileSettings;
}

const isCsv = (path: string): boolean => /\.(csv|tsv)$/i.test(path);
const isRows = (path: string): boolean => isCsv(path) || /\.(ndjson|jsonl)$/i.test(path);

/** Fails CONFIG_INVALID. */
export function findFiles(words: FileWords, schema: Schema): ImportFile[] {
  const found = words.words.flatMap((word) => foundBy(word, words));
  if (words.words.length === 0 && words.map) found.push(...mappedIn(words.map.folder, words));
  const files = found.map((one) => fileOf(one, schema));
  // The sort is stable.
  return files.sort((a, b) => Number(a.isEdges) - Number(b.isEdges));
}

function foundBy(word: string, words: FileWords): Found[] {
  const found = statSync(word, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    return words.map ? mappedIn(word, words) : pathsIn(word).filter(isRows).map(of(words));
  }
  if (found) return [of(words)(word)];
  const [, type, path] = /^([A-Za-z_]\w*)=(.+)$/s.exec(word) ?? [];
  if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile()) {
    return [{ ...of(words)(path), type }];
  }
  return refuse(`There is no file ${path ?? word}.`, 'Write FILE, or TYPE=FILE.');
}

/** A single file: a mapping entry matches it by the end of its path. */
const of =
  ({ flags, map }: FileWords) =>
  (path: string): Found => {
    const parts = resolve(path).split(sep);
    const tails = parts.map((_, i) => parts.slice(i).join('/'));
    const entry = map?.files.find((one) => tails.some((tail) => fits(one.path, tail)));
    return { path, settings: { ...entry?.settings, ...flags } };
  };

/**
 * Returns the files in a folder that the mapping matches, in the order of the mapping and without
 * duplicates.
 */
function mappedIn(folder: string, { flags, map }: FileWords): Found[] {
  const paths = pathsIn(folder);
  const taken = new Set<string>();
  return map!.files.flatMap(({ path: glob, settings }) => {
    const mine = paths.filter((path) => fits(glob, relative(folder, path).split(sep).join('/')));
    if (mine.length === 0) refuse(`The mapping has ${glob}, and ${folder} has no such file.`);
    return mine
      .filter((path) => !taken.has(path) && taken.add(path))
      .map((path) => ({ path, settings: { ...settings, ...flags } }));
  });
}

function pathsIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const paths = entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') ? [] : pathsIn(path);
    return [path];
  });
  return paths.sort();
}

function fileOf({ path, type: typeName, settings }: Found, schema: Schema): ImportFile {
  const { size } = statSync(path);
  const type = typeOf(path, typeName, settings, schema);
  const file = { path, bytes: size, settings, type };
  if (!isCsv(path)) {
    const isEdges = type ? type.kind === 'edge' : firstLine(path).startsWith('{"edge"');
    return { ...file, isEdges };
  }
  const header = settings.header === undefined ? undefined : headerOf(path, settings.header);
  const first = firstLine(header ?? path);
  const delimiter = settings.delimiter ?? (/\.tsv$/i.test(path) ? '\t' : ',');
  if (!/^[\x09\x20-\x7e]$/.test(delimiter) || delimiter === '"') {
    refuse(`The delimiter ${JSON.stringify(delimiter)} is not one ASCII character.`);
  }
  const names = first.split(delimiter).map((name) => name.replaceAll('"', '').trim());
  const hasType = isNeo4j(names) && names.some((name) => /:(LABEL|TYPE)$/.test(name));
  if (type === undefined && !hasType) refuseType(path);
  const form = formOf(type, delimiter, settings, schema);
  const isEdges = type ? type.kind === 'edge' : names.some((name) => name.includes(':START_ID'));
  return { ...file, header, form, isEdges };
}

function headerOf(path: string, name: string): string {
  const header = join(path, '..', name);
  return existsSync(header) ? header : refuse(`There is no header ${header}.`);
}

function formOf(
  type: ElementType | undefined,
  delimiter: string,
  settings: FileSettings,
  schema: Schema,
): CsvForm {
  const { date_format, columns = {}, skip = [], id, from, to, list_delimiter } = settings;
  return {
    delimiter,
    readDate: date_format === undefined ? plainDate : dateReader(date_format),
    type,
    typeOf: (kind, name) => typesOf(schema, kind).find((one) => one.name === name),
    columns: new Map(Object.entries(columns)),
    skip: new Set(skip),
    ...{ id, from, to, listDelimiter: list_delimiter },
    keys: { from: keyOf(type, 'from', settings, schema), to: keyOf(type, 'to', settings, schema) },
  };
}

/** Returns the type of the property that identifies endpoints. Fails PARAM_VALUE. */
function keyOf(
  type: ElementType | undefined,
  end: 'from' | 'to',
  settings: FileSettings,
  schema: Schema,
): PropertyType | undefined {
  const name = settings[`${end}_key`];
  if (name === undefined || type?.kind !== 'edge') return undefined;
  const ref = type[end];
  const owner = typesOf(schema, ref.kind).find((one) => one.name === ref.name);
  const property = owner?.properties.find((one) => one.name === name);
  if (property?.index === 'unique') return property.type;
  const allowed = `a property of ${ref.name} that has a unique index`;
  return fail('PARAM_VALUE', { param: `${end}_key`, allowed, got: excerpt(name) });
}

const typesOf = (schema: Schema, kind: ElementKind): readonly ElementType[] =>
  ({ node: schema.nodes, edge: schema.edges, vector: schema.vectors })[kind];

/**
 * Returns the type of the rows: from `TYPE=FILE`, then a flag or the mapping, then the name of a CSV
 * file. Returns undefined if none names it.
 */
function typeOf(
  path: string,
  named: string | undefined,
  settings: FileSettings,
  schema: Schema,
): ElementType | undefined {
  const called = (name: string): ElementType[] =>
    kinds.flatMap((kind) => typesOf(schema, kind).filter((type) => type.name === name));
  if (named !== undefined) {
    const types = called(named);
    if (types.length === 1) return types[0]!;
    const what = types.length === 0 ? `has no type ${named}` : `has several types ${named}`;
    return refuse(`${path}: the schema ${what}.`, 'Say --node, --edge or --vector.');
  }
  for (const kind of kinds) {
    const name = settings[kind];
    if (name === undefined) continue;
    const type = typesOf(schema, kind).find((one) => one.name === name);
    return type ?? refuse(`${path}: the schema has no ${kind} type ${name}.`);
  }
  const own = isCsv(path) ? called(basename(path).replace(/\.[^.]*$/, '')) : [];
  return own.length === 1 ? own[0] : undefined;
}

function refuseType(path: string): never {
  const name = basename(path).replace(/\.[^.]*$/, '');
  const hint = 'Say what its rows are: TYPE=FILE, --node, --edge or --vector, or a mapping.';
  return refuse(`${path}: no single type is called ${name}.`, hint);
}

function refuse(what: string, hint = ''): never {
  return fail('CONFIG_INVALID', { what }, { hint });
}

/** Maximum bytes of a header. */
const firstLineMax = 16 * 1024 * 1024;

function firstLine(path: string): string {
  const file = openSync(path, 'r');
  const blocks: Buffer[] = [];
  try {
    for (let bytes = 0; bytes < firstLineMax; ) {
      const block = Buffer.alloc(64 * 1024);
      const size = readSync(file, block, 0, block.length, null);
      if (size === 0) break;
      blocks.push(block.subarray(0, size));
      bytes += size;
      if (block.includes(10) || block.includes(13)) break;
    }
  } finally {
    closeSync(file);
  }
  const text = Buffer.concat(blocks).toString();
  return text.replace(/^\ufeff/, '').split(/[\r\n]/, 1)[0]!;
}
