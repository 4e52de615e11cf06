// `seed.ndjson`: the calls that fill an empty database of a project, one per line. A line is
// {"query", "body", "save"}; `save` keeps parts of the answer under names (JSON Pointers), and a
// text "$name" in a later body stands for what was kept.
import { join } from 'node:path';
import { Compile } from 'typebox/schema';
import { type Database, TrellisError, errorMessage, excerpt, fail } from '../../engine/index.js';
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

/**
 * Plays the project's seed on an empty database and gives the number of calls; 0 without a seed.
 * Calls are started in the order of the lines and wait only for what they name, so that many share
 * one commit. Fails SOURCE_INVALID naming the line.
 */
export async function playSeed(projectDir: string, database: Database): Promise<number> {
  if (!isEmpty(database)) return 0;
  const text = readProjectFile(projectDir, join(projectDir, seedName), seedName);
  if (text === undefined) return 0;
  const lines = text.split('\n');
  const kept = new Map<string, Promise<unknown>>();
  const running = new Set<Promise<unknown>>();
  let calls = 0;
  for (const [index, text] of lines.entries()) {
    if (text.trim() === '') continue;
    const line = parseLine(text, index + 1);
    const body = await fillIn(line.body ?? {}, kept, index + 1);
    const answer = play(database, line, body, index + 1);
    for (const [name, pointer] of Object.entries(line.save ?? {})) {
      kept.set(
        name,
        answer.then((value) => follow(value, pointer, index + 1)),
      );
    }
    running.add(answer);
    answer.then(
      () => running.delete(answer),
      () => undefined,
    );
    for (const promise of kept.values()) promise.catch(() => undefined);
    if (running.size >= inFlightMax) await Promise.race(running);
    calls++;
  }
  await Promise.all(running);
  return calls;
}

function refuse(line: number, why: string): never {
  return fail('SOURCE_INVALID', { what: `${seedName}:${line}: ${why}` });
}

function parseLine(text: string, line: number): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(line, 'is not JSON');
  }
  return checkLine.Check(value) ? (value as Line) : refuse(line, 'is no {query, body, save}');
}

async function play(
  database: Database,
  { query }: Line,
  body: unknown,
  line: number,
): Promise<unknown> {
  try {
    const answer = await database.call(query, Buffer.from(JSON.stringify(body)));
    return JSON.parse(Buffer.from(answer).toString());
  } catch (error) {
    if (error instanceof TrellisError) return refuse(line, errorMessage(error.data));
    throw error;
  }
}

/** The body with every "$name" replaced by what was kept under the name. */
async function fillIn(
  value: unknown,
  kept: ReadonlyMap<string, Promise<unknown>>,
  line: number,
): Promise<unknown> {
  if (typeof value === 'string' && value.startsWith('$')) {
    const name = value.slice(1);
    return kept.has(name) ? kept.get(name) : refuse(line, `nothing is kept as ${excerpt(name)}`);
  }
  if (Array.isArray(value)) {
    // Vectors are long and name nothing.
    if (!value.some((item) => typeof item !== 'number')) return value;
    return Promise.all(value.map((item) => fillIn(item, kept, line)));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    entries.push([name, await fillIn(item, kept, line)]);
  }
  return Object.fromEntries(entries);
}

function follow(value: unknown, pointer: string, line: number): unknown {
  let found = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const inside = typeof found === 'object' && found !== null && Object.hasOwn(found, name);
    if (!inside) return refuse(line, `the answer has no ${pointer}`);
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}
