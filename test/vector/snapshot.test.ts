// Snapshots: what is written comes back; what is damaged, foreign or torn is refused with a reason.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { armFailpoint } from '../../engine/base/failpoint.js';
import type { SharedIndex } from '../../engine/vector/shared-index.js';
import { readSnapshot, writeSnapshot } from '../../engine/vector/snapshot.js';
import { FORMAT_VERSION, H_VERSION } from '../../wasm/layout.js';
import { defaults, indexOf, long } from './fixture.js';
import { clustered, randomFrom } from './random.js';

const identity = { dbUuid: '0190a1b2-0000-7000-8000-000000000001', typeId: 7, seq: 1234 };
const expected = { dbUuid: identity.dbUuid, typeId: 7, dimension: 24 };
const folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
const path = join(folder, 'Test.1234.snap');
const vectors = clustered(1500, 24, { seed: 31 });
let index: SharedIndex;

beforeAll(() => {
  index = indexOf(vectors);
  index.delete(17);
  writeSnapshot(index, path, identity);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('round trip', () => {
  test('equal results, and the index can still change', () => {
    const read = readSnapshot(path, 'Test', defaults, expected);
    expect(read.reason).toBeUndefined();
    const copy = read.index!;
    expect(copy.count).toBe(1499);
    for (const query of vectors.slice(0, 30)) {
      expect([...copy.search(query, 10).ids]).toEqual([...index.search(query, 10).ids]);
    }
    copy.put(9999, vectors[0]!);
    expect(new Set(copy.search(vectors[0]!, 2).ids)).toEqual(new Set([1, 9999]));
    expect(readdirSync(folder)).toEqual(['Test.1234.snap']);
  });
});

describe('refusals', () => {
  test.each([
    ['another database', { ...expected, dbUuid: identity.dbUuid.replace('1', '2') }, defaults],
    ['another type', { ...expected, typeId: 8 }, defaults],
    ['another dimension', { ...expected, dimension: 25 }, defaults],
    ['another sequence', { ...expected, seq: 1 }, defaults],
    ['another metric', expected, { ...defaults, metric: 'cosine' as const }],
    ['another layout', expected, { ...defaults, layout: 'compact' as const }],
  ])('%s', (_, wanted, options) => {
    const read = readSnapshot(path, 'Test', options, wanted);
    expect(read.index).toBeUndefined();
    expect(read.reason).toBeTruthy();
  });

  test('a former memory format', () => {
    const older = indexOf(vectors, { metric: 'cosine' });
    for (const { header } of older.segments) header[H_VERSION >> 2] = FORMAT_VERSION - 1;
    const file = join(folder, 'Test.1.snap');
    writeSnapshot(older, file, { ...identity, seq: 1 });
    const read = readSnapshot(file, 'Test', { ...defaults, metric: 'cosine' }, expected);
    expect(read.reason).toBe('it has another memory format');
    expect(read.index).toBeUndefined();
    rmSync(file);
  });

  test('a missing file', () => {
    expect(readSnapshot(join(folder, 'none'), 'Test', defaults, expected).index).toBeUndefined();
  });

  test('seeded damage: flipped bits, cuts, extra bytes', () => {
    const whole = readFileSync(path);
    const random = randomFrom(77);
    const damaged = join(folder, 'damaged');
    for (let i = 0; i < (long ? 200 : 40); i++) {
      let bytes = Buffer.from(whole);
      const at = Math.floor(random() * (i % 4 === 0 ? 200 : bytes.length));
      if (i % 3 === 0) bytes = bytes.subarray(0, at);
      else if (i % 10 === 1) bytes = Buffer.concat([bytes, Buffer.alloc(1 + (at % 100))]);
      else bytes[at] = bytes[at]! ^ (1 << Math.floor(random() * 8));
      // Header bytes that carry nothing are covered by its checksum too, so every change counts.
      writeFileSync(damaged, bytes);
      const read = readSnapshot(damaged, 'Test', defaults, expected);
      expect(read.index, `damage ${i} at ${at}`).toBeUndefined();
    }
    rmSync(damaged);
  });
});

describe('a crash leaves the old snapshot or the new one', () => {
  test.each(['midSnapshotBlock', 'W14'])('%s', (point) => {
    armFailpoint(`${point}@1:throw`);
    const other = join(folder, 'Test.2000.snap');
    expect(() => writeSnapshot(index, other, { ...identity, seq: 2000 })).toThrow();
    // What a failed write has left is removed; a process that ends in it leaves the draft (test/reliability/crash).
    expect(readdirSync(folder).filter((name) => name.startsWith('Test.2000'))).toEqual([]);
    expect(readSnapshot(path, 'Test', defaults, expected).index).toBeDefined();
  });

  test.each(['afterSnapshotRename', 'beforeDirFsync'])('%s', (point) => {
    armFailpoint(`${point}@1:throw`);
    const other = join(folder, 'Test.2001.snap');
    expect(() => writeSnapshot(index, other, { ...identity, seq: 2001 })).toThrow();
    expect(readSnapshot(other, 'Test', defaults, { ...expected, seq: 2001 }).index).toBeDefined();
    rmSync(other);
  });
});
