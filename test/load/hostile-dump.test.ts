// Dumps that somebody has changed, with a sum that is right: every member of every form of line, given
// values of other types, ranges, references, twice, or not at all, and lines in other orders. Each is refused
// in words that name its place, or loads, and is then verified and dumped again. There are some 13,000
// changes: a hundred are made, other ones every day, with TRELLIS_TEST_LONG=1 a third.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { Instant } from '../../engine/base/value.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { DumpReader } from '../../engine/database/maintenance/restore-dump.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { Random } from '../support/random.js';
import { nextTurn } from '../support/run/next-turn.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../storage/support/garden.js';
import { garden } from '../storage/support/declare.js';

const isLong = Boolean(process.env.TRELLIS_TEST_LONG);
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Date.now() / 86_400_000));

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Every kind of element, value, index and default. */
function soundLines(): Json[] {
  const path = join(freshFolder(), 'graph');
  const [gardener, ...nodes] = garden.nodes;
  const level = gardener!.properties.map((one) =>
    one.name === 'level' ? { ...one, default: { kind: 'literal' as const, value: 3 } } : one,
  );
  const schema = { ...garden, nodes: [{ ...gardener!, properties: level }, ...nodes] };
  const storage = openGarden(path, {}, schema);
  write(storage, (view) => {
    const of = (name: string) => labelNamed(storage, name);
    const joined = new Instant(1_600_000_000, 0);
    const ann = view.createNode(
      of('Gardener'),
      values({ email: 'a', city: 'x', level: 1, joined }),
    );
    const bob = view.createNode(of('Gardener'), values({ email: 'b', city: 'x', joined }));
    const tags = ['green', 'old'];
    const oak = view.createNode(
      of('Plant'),
      values({ species: 'oak', height: 1.5, tags, serial: 2n ** 60n }),
    );
    view.createEdge(of('Grows'), ann, oak, values({ rating: 7 }));
    view.createEdge(of('Follows'), ann, bob, values({}));
    const note = view.createVector(of('Note'), Float64Array.of(1, 2), values({ text: 'moss' }));
    view.createVector(of('Note'), Float64Array.of(3, 4), values({ text: 'fern', lang: 'en' }));
    view.createEdge(of('Tells'), oak, note, values({}));
  });
  const text = Buffer.concat([...dump(storage)]).toString();
  storage.close();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
}

const lines = soundLines();
const uuids = lines.slice(1, -1).map((line) => (line as { id: string }).id);

/** What may stand in the place of anything. */
const others: Json[] = [
  ...[null, true, false, 0, 1, -1, 2, 7, 255, 256, 65_535, 65_536, 2 ** 32, 2 ** 53, 1e308, 0.5],
  ...['', 'x', 'node', 'edge', 'vector', 'list', 'scalar', 'now', 'literal', 'unique', 'none'],
  ...['String', 'Date', 'U8', '-1', '1e999', 'Plant', 'Gardener', 'Note', '__proto__', '\u0000'],
  ...['AAAAAAAA8H8=', 'AAAAAAAA8D8=', 'AACAfw==', '2020-01-01T00:00:00Z'],
  ...[[], {}, [[]], [null], { kind: 'scalar', name: 'U8' }, { kind: 'now' }],
  { kind: 'list', of: { kind: 'list', of: { kind: 'scalar', name: 'F64' } } },
  { kind: 'literal', text: '"x"' },
  '00000000-0000-4000-8000-000000000000',
];

type Change = [what: string, lines: Json[]];

/** Copies of a value in which one thing is another. */
function* mutants(value: Json, path: string): Generator<[string, Json]> {
  for (const other of others) yield [`${path} = ${JSON.stringify(other)}`, other];
  if (typeof value === 'number') {
    for (const by of [-1, 1, 100]) yield [`${path} + ${by}`, value + by];
    yield [`${path} as text`, String(value)];
  }
  if (typeof value === 'string') {
    for (const uuid of uuids) if (value.length === 36) yield [`${path} = ${uuid}`, uuid];
    yield [`${path} twice`, value + value];
    yield [`${path} in capitals`, value.toUpperCase()];
    yield [`${path} cut`, value.slice(0, -1)];
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      yield [`${path}[${i}] left out`, value.toSpliced(i, 1)];
      yield [`${path}[${i}] twice`, value.toSpliced(i, 0, item)];
      yield [`${path}[${i}] first`, [item, ...value.toSpliced(i, 1)]];
      for (const [what, other] of mutants(item, `${path}[${i}]`))
        yield [what, value.with(i, other)];
    }
  } else if (typeof value === 'object' && value !== null) {
    yield [`${path} with another member`, { ...value, other: 1 }];
    for (const [name, item] of Object.entries(value)) {
      const { [name]: _, ...rest } = value;
      yield [`${path}.${name} left out`, rest];
      yield [`${path}.${name} under another name`, { ...rest, [`${name}s`]: item }];
      for (const [what, other] of mutants(item, `${path}.${name}`))
        yield [what, { ...value, [name]: other }];
    }
  }
}

function* changes(): Generator<Change> {
  for (const [i, line] of lines.entries()) {
    for (const [what, other] of mutants(line, `line ${i + 1}`)) yield [what, lines.with(i, other)];
    yield [`line ${i + 1} left out`, lines.toSpliced(i, 1)];
    for (let to = 0; to <= lines.length; to++) {
      yield [`line ${i + 1} again at ${to + 1}`, lines.toSpliced(to, 0, line)];
      if (to < lines.length) {
        yield [`line ${i + 1} at ${to + 1}`, lines.toSpliced(i, 1).toSpliced(to, 0, line)];
      }
    }
  }
  const id = '00000000-0000-4000-8000-000000000001';
  const added: Json[] = [
    { settings: { node: 'Plant', upsert: 'serial' } },
    { refused: { param: 'x' } },
    {},
    { vector: 'Note', id, embed: 'x', properties: {} },
  ];
  for (const other of added) {
    for (let to = 0; to <= lines.length; to++) {
      yield [`${JSON.stringify(other)} at ${to + 1}`, lines.toSpliced(to, 0, other)];
    }
  }
}

/** With the sum that it should have, where its last line is one; the count as it says, or as it is. */
function textOf(changed: readonly Json[], isCounted: boolean): string {
  const last = changed.at(-1) as { trellis_dump_end?: { count?: Json; sha256?: Json } } | null;
  const body = changed.slice(0, -1).map((line) => `${JSON.stringify(line)}\n`);
  const end = last?.trellis_dump_end;
  const isSum = typeof end?.sha256 === 'string' && end.sha256.length === 64;
  if (!isSum) return `${body.join('')}${JSON.stringify(last)}\n`;
  const sha256 = createHash('sha256').update(body.join('')).digest('hex');
  const count = isCounted ? changed.length - 2 : end!.count!;
  return `${body.join('')}${JSON.stringify({ ...last, trellis_dump_end: { ...end, count, sha256 } })}\n`;
}

const limits = defaultLimits;

/** Words that a dump is refused with, `clean`, or what is wrong. */
function outcome(text: string): string {
  const storage = openStorage(join(freshFolder(), 'graph'), { limits, mode: 'create' });
  try {
    const reader = new DumpReader(storage, { limits, textEnabled: true, textLanguage: 'english' });
    reader.write(Buffer.from(text));
    reader.end();
    const faults = verifyStorage(storage);
    if (faults.length > 0) return `WRONG: verify finds ${JSON.stringify(faults[0])}`;
    storage.reloadCatalog();
    const again = Buffer.concat([...dump(storage)]);
    return again.length > 0 ? 'clean' : 'WRONG: no dump';
  } catch (error) {
    if (!(error instanceof TrellisError)) return `WRONG: ${(error as Error).stack}`;
    const { code, message } = error;
    const isTold =
      code === 'DATA_CORRUPT' && /line \d+|last line|first line|elements|checksum/.test(message);
    return isTold ? message : `WRONG: ${code} ${message}`;
  } finally {
    storage.close();
  }
}

describe('a dump that was changed, with a sum that is right', () => {
  it('is refused in words, or whole', { timeout: 1_200_000 }, async () => {
    expect(outcome(textOf(lines, false))).toBe('clean');
    const random = new Random(seed);
    const all = [...changes()];
    const share = isLong ? 1 / 3 : 100 / all.length;
    const wrong: string[] = [];
    let clean = 0;
    let tried = 0;
    for (const [what, changed] of all) {
      if (!random.chance(share)) continue;
      if (tried++ % 10 === 0) await nextTurn();
      const told = outcome(textOf(changed, !what.includes('trellis_dump_end')));
      if (told.startsWith('WRONG')) wrong.push(`${what}: ${told}`);
      else if (told === 'clean') clean++;
    }
    expect(wrong.slice(0, 20), `seed ${seed}: ${wrong.length} of ${tried}`).toEqual([]);
    expect(clean).toBeGreaterThan(0);
    expect(clean).toBeLessThan(tried / 2);
  });
});
