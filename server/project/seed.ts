// Reads `seed.ndjson`, the calls that fill an empty database of a project, and makes or checks them. Each line is
// {"query", "body", "save"}: `save` stores parts of the reply under names, by JSON Pointers, and a text "$name" in the
// body of a later line stands for the stored value.
import { join } from 'node:path';
import { Compile } from 'typebox/schema';
import {
  type Database,
  type Program,
  TrellisError,
  errorMessage,
  excerpt,
  fail,
  nearestName,
} from '../../engine/internal.js';
import { readProjectFile } from '../folder/project-file.js';

const seedName = 'seed.ndjson';
const inFlightMax = 1_024;

const checkLine = Compile({
  type: 'object',
  required: ['query'],
  properties: {
    query: { type: 'string' },
    body: {},
    save: { type: 'object', additionalProperties: { type: 'string' } },
  },
  additionalProperties: false,
});

interface Line {
  query: string;
  body?: unknown;
  save?: Record<string, string>;
}

/** Whether nothing is stored. */
function isEmpty(database: Database): boolean {
  return database.view((view) =>
    view.catalog.labels().every((label) => view.count(label.id) === 0),
  );
}

const readSeed = (projectDir: string): string | undefined =>
  readProjectFile(projectDir, join(projectDir, seedName), seedName);

/** A line that cannot be run. */
export interface SeedError {
  file: typeof seedName;
  /** From 1. */
  line: number;
  message: string;
}

/**
 * Checks the seed of a project against its queries, without running it: the form of each line, its query, and the
 * names of its arguments. Values are checked when the line runs. `strict`: arguments that the query does not have are
 * errors. Returns an empty list without a seed.
 */
export function checkSeed(
  projectDir: string,
  { queries }: Program,
  { strict }: { strict: boolean },
): SeedError[] {
  const text = readSeed(projectDir) ?? '';
  const byName = new Map(queries.map((query) => [query.name, query]));
  return text.split('\n').flatMap((line, at): SeedError[] => {
    if (line.trim() === '') return [];
    const message = lineError(line, byName, strict);
    return message === undefined ? [] : [{ file: seedName, line: at + 1, message }];
  });
}

function lineError(
  text: string,
  queries: ReadonlyMap<string, Program['queries'][number]>,
  strict: boolean,
): string | undefined {
  const line = readLine(text);
  if (typeof line === 'string') return line;
  const query = queries.get(line.query);
  if (query === undefined) {
    const near = nearestName(line.query, [...queries.keys()]);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    return `there is no query ${excerpt(line.query)}.${hint}`;
  }
  const { body = {} } = line;
  if (typeof body !== 'object' || body === null) return 'the body is no object';
  const members = Object.keys(body);
  const { parameters } = query.plan;
  const missing = parameters.find(({ name, optional }) => !optional && !members.includes(name));
  if (missing !== undefined) return `${line.query} needs \`${missing.name}\``;
  const unknown = members.find((name) => parameters.every((one) => one.name !== name));
  if (unknown === undefined || !strict) return undefined;
  return `${line.query} has no parameter \`${excerpt(unknown)}\``;
}

/** Runs the seed of a project if the database is empty. Returns the number of calls, and fails, as `runSeed`. */
export async function playSeed(projectDir: string, database: Database): Promise<number> {
  return isEmpty(database) ? runSeed(projectDir, database) : 0;
}

/**
 * Runs the seed of a project, whatever is stored. Returns the number of calls, 0 without a seed. Calls start in the
 * order of the lines and wait only for the values that they name, so that many share one commit. Fails SOURCE_INVALID
 * with the number of the line.
 */
export async function runSeed(projectDir: string, database: Database): Promise<number> {
  const text = readSeed(projectDir);
  if (text === undefined) return 0;
  const lines = text.split('\n');
  const saved = new Map<string, Promise<unknown>>();
  const running = new Set<Promise<unknown>>();
  let calls = 0;
  for (const [index, text] of lines.entries()) {
    if (text.trim() === '') continue;
    const line = parseLine(text, index + 1);
    const body = await fillIn(line.body ?? {}, saved, index + 1);
    const reply = runLine(database, line, body, index + 1);
    for (const [name, pointer] of Object.entries(line.save ?? {})) {
      saved.set(
        name,
        reply.then((value) => follow(value, pointer, index + 1)),
      );
    }
    running.add(reply);
    reply.then(
      () => running.delete(reply),
      () => undefined,
    );
    for (const promise of saved.values()) promise.catch(() => undefined);
    if (running.size >= inFlightMax) await Promise.race(running);
    calls++;
  }
  await Promise.all(running);
  return calls;
}

function reject(line: number, why: string): never {
  return fail('SOURCE_INVALID', { what: `${seedName}:${line}: ${why}` });
}

/** Returns the line, or what is wrong with its form. */
function readLine(text: string): Line | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'is not JSON';
  }
  return checkLine.Check(value) ? (value as Line) : 'is no {query, body, save}';
}

function parseLine(text: string, line: number): Line {
  const read = readLine(text);
  return typeof read === 'string' ? reject(line, read) : read;
}

async function runLine(
  database: Database,
  { query }: Line,
  body: unknown,
  line: number,
): Promise<unknown> {
  try {
    const reply = await database.call(query, Buffer.from(JSON.stringify(body)));
    return JSON.parse(Buffer.from(reply).toString());
  } catch (error) {
    if (error instanceof TrellisError) return reject(line, errorMessage(error.data));
    throw error;
  }
}

/** Returns the body with each "$name" replaced by the value that is saved under the name. */
async function fillIn(
  value: unknown,
  saved: ReadonlyMap<string, Promise<unknown>>,
  line: number,
): Promise<unknown> {
  if (typeof value === 'string' && value.startsWith('$')) {
    const name = value.slice(1);
    return saved.has(name) ? saved.get(name) : reject(line, `nothing is saved as ${excerpt(name)}`);
  }
  if (Array.isArray(value)) {
    // Vectors are long and contain no names.
    if (!value.some((item) => typeof item !== 'number')) return value;
    return Promise.all(value.map((item) => fillIn(item, saved, line)));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    entries.push([name, await fillIn(item, saved, line)]);
  }
  return Object.fromEntries(entries);
}

/** Returns the part of a reply that a JSON Pointer names. */
function follow(value: unknown, pointer: string, line: number): unknown {
  let found = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const inside = typeof found === 'object' && found !== null && Object.hasOwn(found, name);
    if (!inside) return reject(line, `the answer has no ${pointer}`);
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}
