// Rows read by the shape of earlier ones: whatever a line holds, it gives what reading it in full
// gives. And the table of temporary names, beside a Map.
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { NameTable } from '../../engine/database/load/row/name-table.js';
import { RowReader } from '../../engine/database/load/row/row-reader.js';
import { type Storage, openStorage } from '../../engine/storage/open-storage.js';
import { edge, node } from '../storage/support/declare.js';
import { freshFolder } from '../storage/support/garden.js';
import { Random } from '../support/random.js';
import { nextTurn } from '../support/run/next-turn.js';

const person = {
  ...{ name: 'unique String', age: 'index U8', bio: 'String', big: 'I64', tags: '[String]' },
  ...{ born: 'Date', points: 'F32', height: 'F64', active: 'index Boolean', key: 'ID' },
};
const schema = {
  version: 1,
  nodes: [node('Person', person), node('Empty')],
  edges: [edge('Knows', ['Person', 'Person'], { since: 'I64', note: 'String' })],
  vectors: [],
};

function openEmpty(): Storage {
  const storage = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
  storage.applySchema({ schema, olderSchemas: [], migrations: [] }, { nowMs: 0 });
  return storage;
}

const uuid = '01890000-0000-7000-8000-000000000001';
const texts = [
  '',
  'Ada',
  'a "b"',
  'ünï',
  'tab\t',
  'x'.repeat(40),
  uuid,
  '2001-02-03',
  '💡',
  '\u0000',
];
const numbers = [0, -0, 1, -1, 255, 256, 0.5, 1e21, 9007199254740992, -12345678901];
const raw = [
  '-0',
  '01',
  '1.0',
  '1e2',
  '18446744073709551615',
  '123456789012345678901',
  'nul',
  ' 7',
];

function value(random: Random): string {
  const kind = random.below(10);
  if (kind < 4) return JSON.stringify(random.pick(texts));
  if (kind < 7) return JSON.stringify(random.pick(numbers));
  if (kind === 7) return random.pick(['true', 'false', 'null', '["a"]', '{}', '[]']);
  return kind === 8 ? random.pick(raw) : String(random.below(300));
}

/** A line as good as most, with a few values exchanged for others. */
function line(random: Random, i: number): string {
  const members: Record<string, string> = {
    ...{ name: `"Person ${i}"`, age: String(i % 99), bio: '"some words"', big: `"${i}"` },
    ...{ born: '"2001-02-03"', points: '0.5', height: '1.25', active: String(i % 3 === 0) },
  };
  if (random.chance(0.4)) members[random.pick(Object.keys(person))] = value(random);
  if (random.chance(0.1)) delete members[random.pick(Object.keys(members))];
  if (random.chance(0.03)) members.other = '1';
  const list = (all: Record<string, string>): string =>
    Object.entries(all)
      .map(([name, text]) => `"${name}":${text}`)
      .join(random.chance(0.02) ? ' , ' : ',');
  const end = (): string =>
    random.chance(0.1) ? value(random) : `"p${random.below(Math.max(i, 1))}"`;
  const text = random.chance(0.5)
    ? `{"node":"Person","id":"p${i}","properties":{${list(members)}}}`
    : `{"edge":"Knows","from":${end()},"to":${end()},"properties":{"since":${i},"note":"n"}}`;
  if (random.chance(0.9)) return text;
  const at = random.below(text.length);
  const wrong = random.pick(['', '"', '}', ',', '\\', '\r', ' ', '0', '}}', '\u0001', 'é']);
  return text.slice(0, at) + wrong + text.slice(at + random.below(2));
}

const seeds = process.env.TRELLIS_TEST_LONG === '1' ? 30 : 2;

describe('row reader', () => {
  it('reads lines of a known shape as it reads any other', async () => {
    const storage = openEmpty();
    const options = {
      limits: { ...defaultLimits, value_bytes: 36 },
      textEnabled: true,
      textLanguage: 'english' as const,
    };
    const quick = new RowReader(storage.catalog, options);
    const full = new RowReader(storage.catalog, options);
    const now = { seconds: 0, micros: 0 };
    let accepted = 0;
    let refused = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      await nextTurn();
      const random = new Random(seed);
      for (let i = 0; i < 1500; i++) {
        const bytes = Buffer.from(line(random, seed * 10_000 + i).replaceAll('\n', ' '));
        // A reader that has just taken over a schema knows no shapes.
        full.setCatalog(storage.catalog);
        const expected = full.read(bytes, 1, now);
        expect(quick.read(bytes, 1, now), bytes.toString()).toEqual(expected);
        accepted += expected.count;
        refused += expected.rejects.length;
      }
    }
    expect(accepted).toBeGreaterThan(400 * seeds);
    expect(refused).toBeGreaterThan(160 * seeds);
    storage.close();
  });

  it('finds where lines of a known shape end', () => {
    const storage = openEmpty();
    const options = { limits: defaultLimits, textEnabled: false, textLanguage: 'english' as const };
    const reader = new RowReader(storage.catalog, options);
    const rows = ['{"node":"Empty","id":"a"}', '', '{"node":"Empty","id":"b"}', '{"node":"Empty"}'];
    const bytes = Buffer.from(`${rows.join('\n')}\n{"node":"Empty"}x\n{"node":"Empty"}`);
    const batch = reader.read(bytes, 1, { seconds: 0, micros: 0 });
    expect(batch.count).toBe(4);
    expect(batch.rejects.map((reject) => reject.line)).toEqual([5]);
    storage.close();
  });
});

describe('name table', () => {
  it('gives what a map gives', () => {
    const random = new Random(7);
    const table = new NameTable();
    const map = new Map<string, number>();
    for (let i = 0; i < 20_000; i++) {
      const name = `${'n'.repeat(random.below(9))}${random.below(12_000)}`;
      const bytes = Buffer.from(`<${name}>`);
      const scope = random.below(3);
      const key = `${scope} ${name}`;
      expect(table.find(scope, bytes, 1, bytes.length - 1)).toBe(map.get(key) ?? 0);
      if (map.has(key)) continue;
      table.add(scope, bytes, 1, bytes.length - 1);
      map.set(key, map.size + 1);
    }
    expect(table.size).toBe(map.size);
    for (const [key, ordinal] of map) {
      const bytes = Buffer.from(key.slice(2));
      expect(table.find(Number(key[0]), bytes, 0, bytes.length)).toBe(ordinal);
    }
  });
});
