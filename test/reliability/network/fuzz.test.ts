// T9 in this process: mutated JSON bodies against JSON.parse, mutated calls of sessions, mutated
// manifests and key files. Sources are in test/lang/fuzz.test.ts, HTTP bytes in http-bytes.test.ts,
// snapshots in test/vector/snapshot.test.ts.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { scanJson } from '../../../engine/json/scan.js';
import type { JsonView } from '../../../engine/json/view.js';
import { openDataDirectory } from '../../../engine/storage/folder/manifest.js';
import { readKeyFile, writeKeyFile } from '../../../server/auth/key-file.js';
import { makeKey } from '../../../server/auth/key-record.js';
import { Bench, noKey } from '../../session/library.js';
import { mutated } from '../../support/byte-mutation.js';
import { makeFolder } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const seed = Number(process.env.TRELLIS_TEST_SEED ?? 1);

const bytesOf = (value: unknown): Buffer =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

/** Lets the test runner be heard now and then: a loop of minutes would look dead. */
async function breathe(round: number): Promise<void> {
  if (round % 5_000 === 0) await new Promise((resolve) => setImmediate(resolve));
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The error data of a refusal, undefined when nothing was refused; any other error goes on. */
function refusalOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof TrellisError && error.code !== 'INTERNAL') return error.code;
    throw error;
  }
}

describe('JSON bodies (T9)', () => {
  const bodies = [
    { name: 'Ada', born: 1815, tags: ['a', 'b'], vec: [0.1, -2, 3e-7], note: 'é𝄞\n\u2028' },
    { deep: [[[[{ a: [{ b: null }] }]]]], flag: true, other: false, date: '2024-02-30T00:00:00Z' },
    { connection_id: '0f', data: { filter: { properties: [[{ key: 'a', value: ['x', 1] }]] } } },
    [0, -0, 1e308, 123456789012345680000, 0.1, '\\ud83d\\ude00', ''],
    { é: 1, '': 2, __proto__x: 3, constructor: 4, a: { a: { a: {} } } },
  ].map(bytesOf);

  const plain = (view: JsonView): unknown => {
    switch (view.kind) {
      case 'null':
        return null;
      case 'boolean':
        return view.boolean();
      case 'number':
        return view.float();
      case 'string':
        return view.text();
      case 'array':
        return Array.from({ length: view.length }, (_, i) => plain(view.at(i)));
      case 'object':
        return view.names().map((name) => [name, plain(view.member(name)!)]);
    }
  };
  const ordered = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(ordered);
    if (value === null || typeof value !== 'object') return value;
    return Object.entries(value).map(([name, member]) => [name, ordered(member)]);
  };
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** As JSON.parse reads it, undefined where it does not, or where the text is no UTF-8. */
  const parsed = (bytes: Uint8Array): { value: unknown } | undefined => {
    try {
      return { value: JSON.parse(strict.decode(bytes)) };
    } catch {
      return undefined;
    }
  };
  /** What we refuse though JSON.parse takes it, each with a code of its own. */
  const stricter = ['DUPLICATE_MEMBER', 'BODY_TOO_DEEP', 'BAD_STRING'];
  const hasLoneSurrogate = (value: unknown): boolean => /\\ud[89a-f]/.test(JSON.stringify(value));
  /** JSON.parse puts members with whole numbers as names first. */
  const sorted = (value: unknown): string => JSON.stringify(value).split('').sort().join('');

  test('are read as JSON.parse reads them, or refused as it refuses them', async () => {
    const random = new Random(seed);
    const rounds = long ? 1_000_000 : 2_000;
    let taken = 0;
    for (let round = 0; round < rounds; round++) {
      await breathe(round);
      const sound = bodies[random.below(bodies.length)]!;
      const body = mutated(sound, bodies[random.below(bodies.length)]!, random);
      const wanted = parsed(body);
      let found: unknown;
      const refusal = refusalOf(() => (found = plain(scanJson(body, defaultLimits))));
      const what = `seed ${seed} round ${round}: ${body.toString('latin1')}`;
      if (body.length === 0) continue;
      if (wanted === undefined) expect(refusal, what).toBeDefined();
      else if (refusal === 'BAD_STRING') expect(hasLoneSurrogate(wanted.value), what).toBe(true);
      else if (refusal !== undefined) expect(stricter, what).toContain(refusal);
      else {
        taken++;
        if (sorted(found) !== sorted(ordered(wanted.value))) expect.fail(what);
      }
    }
    expect(taken).toBeGreaterThan(rounds / 50);
    noteProof('T9', `JSON: ${rounds} mutated bodies, ${taken} of them sound, as JSON.parse`);
  });
});

/** `ok`, or the code of the error; a defect goes on. */
async function codeOf(bench: Bench, tool: string, body: Uint8Array): Promise<string> {
  try {
    await bench.handler.handle(tool, body, noKey, 30_000);
    return 'ok';
  } catch (error) {
    if (error instanceof TrellisError && error.code !== 'INTERNAL') return error.code;
    throw new Error(`${tool} ${Buffer.from(body)}`, { cause: error });
  }
}

describe('sessions (T9)', () => {
  const calls: [tool: string, arguments: object][] = [
    ['n_from_type', { data: { node_type: 'Author' } }],
    ['e_from_type', { data: { edge_type: 'Wrote' } }],
    ['out_step', { data: { edge_type: 'node', edge_label: 'Wrote' } }],
    ['in_e_step', { data: { edge_label: 'Contains' } }],
    ['order_by', { data: { properties: 'born', order: 'asc' } }],
    ['group_by', { properties: ['name', 'born'] }],
    ['search_vector', { data: { vector: [1, 0], k: 3, min_score: 0.1 } }],
    ['collect', { range: { start: 0, end: 2 }, drop: false }],
    ['next', {}],
    [
      'filter_items',
      {
        data: {
          filter: {
            properties: [[{ key: 'born', operator: '>', value: '1800' }]],
            filter_traversals: [
              { tool_name: 'out_step', args: { edge_type: 'node', edge_label: 'Wrote' } },
            ],
          },
        },
      },
    ],
  ];

  test('answer or refuse every mutated call, and continue as if it had not happened', async () => {
    const random = new Random(seed + 1);
    const bench = new Bench();
    const [victim, witness] = [await bench.open(), await bench.open()];
    const post = (tool: string, body: object) => bench.post(tool, body);
    const walk = async (): Promise<unknown[]> => [
      await post('reset', { connection_id: witness }),
      await post('n_from_type', { connection_id: witness, data: { node_type: 'Author' } }),
      await post('out_step', {
        connection_id: witness,
        data: { edge_type: 'node', edge_label: 'Wrote' },
      }),
      await post('collect', { connection_id: witness }),
    ];
    const known = await walk();
    const rounds = long ? 200_000 : 2_000;
    let slowest = 0;
    const codes = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      await breathe(round);
      const [tool, more] = calls[random.below(calls.length)]!;
      const [, others] = calls[random.below(calls.length)]!;
      const bodies = [more, others].map((one) => bytesOf({ connection_id: victim, ...one }));
      const body = mutated(bodies[0]!, bodies[1]!, random);
      const started = cpuMs();
      const answer = await codeOf(bench, tool, body);
      const ms = cpuMs() - started;
      if (ms > 1000) expect.fail(`${ms} ms: round ${round} ${tool} ${body}`);
      slowest = Math.max(slowest, ms);
      codes.add(answer);
      if (round % 500 !== 499) continue;
      expect(await walk()).toEqual(known);
      // The bench keeps every plan it has run.
      bench.database.plans.length = 0;
      bench.database.budgets.length = 0;
    }
    expect([...codes]).toEqual(expect.arrayContaining(['ok', 'BAD_JSON', 'CONNECTION_NOT_FOUND']));
    noteProof(
      'T9',
      `sessions: ${rounds} mutated calls, ${codes.size} kinds of answers, 0 INTERNAL`,
    );
  });
});

describe('files (T9)', () => {
  const folder = makeFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('a mutated manifest is refused, or means what it meant', async () => {
    const random = new Random(seed + 2);
    const path = join(folder, 'data');
    const first = openDataDirectory(path);
    const { dbUuid } = first;
    first.close({ clean: true });
    const sound = readFileSync(join(path, 'MANIFEST.json'));
    const rounds = long ? 3_000 : 40;
    const codes = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      await breathe(round * 100);
      const bytes = mutated(sound, sound, random);
      writeFileSync(join(path, 'MANIFEST.json'), bytes);
      const code = refusalOf(() => {
        const opened = openDataDirectory(path);
        expect(opened.dbUuid).toBe(dbUuid);
        opened.close({ clean: true });
      });
      codes.set(code ?? 'ok', (codes.get(code ?? 'ok') ?? 0) + 1);
      if (code !== undefined) expect(['DATA_DIR_BAD', 'FORMAT_TOO_NEW']).toContain(code);
    }
    expect(codes.get('DATA_DIR_BAD')).toBeGreaterThan(rounds / 2);
    noteProof('T9', `manifest: ${rounds} mutations, ${codes.get('ok') ?? 0} without a meaning`);
  });

  test('a mutated key file is refused completely, or gives no key more rights than before', async () => {
    const random = new Random(seed + 3);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'keys.json');
    const made = [
      makeKey({ name: 'reader', role: 'read', queries: ['a*'] }, new Date(0)),
      makeKey({ name: 'writer', role: 'write', expires: '2030-01-01T00:00:00Z' }, new Date(0)),
    ];
    writeKeyFile(
      path,
      made.map(({ record }) => record),
    );
    const sound = readFileSync(path);
    const known = new Map(readKeyFile(path).map((record) => [record.digest, record]));
    const rounds = long ? 100_000 : 400;
    let read = 0;
    for (let round = 0; round < rounds; round++) {
      await breathe(round);
      const bytes = mutated(sound, sound, random);
      writeFileSync(path, bytes);
      const what = `seed ${seed} round ${round}: ${bytes}`;
      const code = refusalOf(() => {
        for (const record of readKeyFile(path)) {
          const before = known.get(record.digest);
          if (before === undefined) continue;
          expect(record.role, what).toBe(before.role);
          expect('queries' in record || !('queries' in before), what).toBe(true);
        }
        read++;
      });
      if (code !== undefined) expect(code, what).toBe('CONFIG_INVALID');
    }
    noteProof('T9', `keys: ${rounds} mutations, ${read} still a key file, no role raised`);
  });
});
