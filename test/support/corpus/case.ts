// Reads conformance cases from their files. The format is described in test/corpus/README.md.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Exact, type ExactObject, parseExact, plainOf } from './exact-json.js';
import { type ConfigValue, root } from '../project.js';

export interface Case {
  id: string;
  file: string;
  /** Checklist rows of the specification that this case proves. */
  rows: string[];
  schema: string;
  /** Queries of the whole file, then of this case. */
  shared: string;
  queries: string;
  config: Record<string, ConfigValue>;
  env: Record<string, string>;
  seed: ExactObject[];
  steps: ExactObject[];
  elements: ExactObject;
  /** Needs a separate server. */
  fresh: boolean;
  /** Codes `trellis check` must report for `queries`, in order; such a case has no steps. */
  diagnostics?: string[];
  expect?: ExactObject;
}

export const corpus = join(root, 'test/corpus');

/** Text that may be written as a list of lines. */
export function textOf(value: Exact | undefined): string {
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.join('\n') : String(value);
}

const objectOf = (value: Exact | undefined): ExactObject =>
  value instanceof Map ? value : new Map();

const listOf = (value: Exact | undefined): ExactObject[] =>
  value === undefined ? [] : ((Array.isArray(value) ? value : [value]) as ExactObject[]);

/**
 * Whether an answer describes the whole program, or the process is touched: such a case stands
 * alone.
 */
function standsAlone(step: ExactObject): boolean {
  if (step.has('restart') || step.has('files')) return true;
  if (String(step.get('get') ?? '').includes('introspect')) return true;
  return String(step.get('post') ?? '').includes('schema_resource');
}

function readCase(file: string, shared: ExactObject, own: ExactObject): Case {
  const steps = listOf(own.get('steps'));
  const plain = (name: string) =>
    plainOf(own.get(name) ?? shared.get(name) ?? new Map()) as Record<string, never>;
  const found: Case = {
    id: String(own.get('id')),
    file,
    rows: (own.get('rows') ?? []) as string[],
    schema: [textOf(shared.get('schema')), textOf(own.get('schema'))].join('\n').trim(),
    shared: textOf(shared.get('queries')),
    queries: textOf(own.get('queries')),
    config: plain('config'),
    env: plain('env'),
    seed: own.get('seed') === false ? [] : listOf(own.get('seed') ?? shared.get('seed')),
    steps,
    elements: objectOf(shared.get('elements')),
    fresh: (own.get('fresh') ?? shared.get('fresh')) === true || steps.some(standsAlone),
  };
  const diagnostics = own.get('diagnostics');
  if (diagnostics !== undefined) found.diagnostics = diagnostics as string[];
  const expect = own.get('expect');
  if (expect !== undefined) found.expect = objectOf(expect);
  return found;
}

/** All cases of one file: a list, an object with `cases`, or one case per line. */
export function readCases(path: string, base?: string): Case[] {
  const outer: ExactObject = withBase(new Map(base === undefined ? [] : [['base', base]]));
  const text = readFileSync(path, 'utf8');
  const file = basename(path);
  if (path.endsWith('.ndjson')) {
    const rows = text.split('\n').filter((line) => line.trim() !== '');
    return rows.map((line) => readCase(file, outer, objectOf(parseExact(line))));
  }
  let whole: Exact;
  try {
    whole = parseExact(text);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
  if (Array.isArray(whole)) return whole.map((own) => readCase(file, outer, objectOf(own)));
  const shared = objectOf(whole);
  const cases = shared.get('cases');
  if (cases === undefined) return [readCase(file, new Map(), shared)];
  return listOf(cases).map((own) => readCase(file, withBase(shared), own));
}

/**
 * `"base": "garden.json"` brings schema, seed and elements of another file of the folder `fixture`.
 */
function withBase(shared: ExactObject): ExactObject {
  const base = shared.get('base');
  if (typeof base !== 'string') return shared;
  const fixture = objectOf(parseExact(readFileSync(join(corpus, 'fixture', base), 'utf8')));
  const merged: ExactObject = new Map([...fixture, ...shared]);
  for (const name of ['schema', 'queries'])
    merged.set(name, `${textOf(fixture.get(name))}\n${textOf(shared.get(name))}`);
  merged.set(
    'elements',
    new Map([...objectOf(fixture.get('elements')), ...objectOf(shared.get('elements'))]),
  );
  return merged;
}

/** The case files of a folder of test/corpus, by name. */
export function caseFiles(folder: string): string[] {
  let names: string[] = [];
  try {
    names = readdirSync(join(corpus, folder));
  } catch {
    return [];
  }
  return names
    .filter((name) => /\.(json|ndjson)$/.test(name))
    .sort()
    .map((name) => join(corpus, folder, name));
}
