// Keys of a cluster without any process: what is done to the files of several nodes, in any order and however
// often it is told, ends in one list; a key that was revoked anywhere never comes back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type KeyFile,
  changeKeyFile,
  readFullKeyFile,
  rewriteKeyFile,
  withKeys,
} from '../../server/auth/key-file.js';
import type { KeyRecord } from '../../server/auth/key-record.js';
import {
  type KeyChange,
  type SharedKeys,
  withSharedKeys,
  applyKeyChange,
  changeIn,
  isSameFile,
  readKeyChange,
} from '../../server/cluster/membership/shared-keys.js';
import { randomOf } from '../../bench/support/seeded-random.js';

const keyOf = (id: string, name = id): KeyRecord => ({
  id,
  name,
  role: 'read',
  created: '2026-01-01T00:00:00.000Z',
  digest: '0'.repeat(64),
});

const idsOf = (keys: readonly KeyRecord[]): string => keys.map(({ id }) => id).join(' ');

interface Node {
  file: KeyFile;
  /** How many lists it has heard of. */
  heard: number;
  /** Changes on their way, which may come twice, late or never. */
  sent: KeyChange[];
}

/** A walk of changes, deliveries and repeats; then everybody is told everything. */
function walk(seed: number): { nodes: Node[]; list: SharedKeys; revoked: Set<string> } {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const lists: SharedKeys[] = [{ keys: [keyOf('first')], revoked: [] }];
  const nodes: Node[] = Array.from({ length: 3 }, () => {
    return { file: withSharedKeys({ keys: [] }, lists[0]!), heard: 1, sent: [] };
  });
  const revoked = new Set<string>();
  const hear = (node: Node): void => {
    if (node.heard < lists.length) node.file = withSharedKeys(node.file, lists[node.heard++]!);
  };
  const tell = (node: Node): void => {
    const change = changeIn(node.file);
    if (change !== undefined) node.sent.push(change);
  };
  const arrive = (change: KeyChange): void => {
    const next = applyKeyChange(lists.at(-1)!, change);
    if (next !== lists.at(-1)) lists.push(next);
  };
  const steps: ((node: Node, at: number) => void)[] = [
    ({ file }, at) => file.keys.push(keyOf(`k${at}`)),
    (node) => {
      const { keys } = node.file;
      if (keys.length === 0) return;
      const { id } = pick(keys);
      revoked.add(id);
      node.file = withKeys(
        node.file,
        keys.filter((key) => key.id !== id),
      );
    },
    tell,
    tell,
    hear,
    hear,
    ({ sent }) => sent.length > 0 && arrive(random() < 0.5 ? pick(sent) : sent.shift()!),
    // A node begins anew: its file is all it has.
    (node) => {
      node.sent = [];
      node.file = JSON.parse(JSON.stringify(node.file));
    },
  ];
  for (let at = 0; at < 120; at++) {
    const node = pick(nodes);
    pick(steps)(node, at);
    // What was revoked here is refused here, whatever was heard since.
    const present = new Set(node.file.keys.map(({ id }) => id));
    for (const id of lists[node.heard - 1]!.revoked) expect(present.has(id)).toBe(false);
  }
  for (let round = 0; round < 4; round++) {
    for (const node of nodes) {
      tell(node);
      for (const change of node.sent.splice(0)) arrive(change);
      while (node.heard < lists.length) hear(node);
    }
  }
  return { nodes, list: lists.at(-1)!, revoked };
}

test('K32 files that people change on several nodes become one list, without revoked keys', () => {
  const seeds = process.env.TRELLIS_TEST_LONG === '1' ? 5_000 : 100;
  for (let seed = 1; seed <= seeds; seed++) {
    const { nodes, list, revoked } = walk(seed);
    for (const { file } of nodes) {
      expect([seed, isSameFile(file, nodes[0]!.file), changeIn(file)]).toEqual([
        seed,
        true,
        undefined,
      ]);
    }
    expect(idsOf(nodes[0]!.file.keys)).toBe(idsOf(list.keys));
    const back = list.keys.filter(({ id }) => revoked.has(id));
    expect([seed, idsOf(back)]).toEqual([seed, '']);
  }
});

test('K32 a file without the list is replaced by it; a file with the list keeps newer keys', () => {
  const list = { keys: [keyOf('a')], revoked: ['old'] };
  expect(idsOf(withSharedKeys({ keys: [keyOf('old'), keyOf('b')] }, list).keys)).toBe('a');
  const changed = withSharedKeys({ keys: [keyOf('old'), keyOf('b')], shared: [], gone: [] }, list);
  expect([idsOf(changed.keys), idsOf(changed.shared!)]).toEqual(['a b', 'a']);
  expect(applyKeyChange(list, { set: [keyOf('a', 'other')], revoke: [] }).keys[0]!.name).toBe(
    'other',
  );
});

test('K32 the file keeps what the cluster had, through commands and damage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-shared-keys-'));
  try {
    const path = join(folder, 'keys.json');
    changeKeyFile(path, () => [keyOf('a'), keyOf('b')]);
    expect(readFullKeyFile(path).shared).toBeUndefined();
    rewriteKeyFile(path, (file) => withSharedKeys(file, { keys: file.keys, revoked: [] }));
    changeKeyFile(path, (keys) => keys.filter(({ id }) => id !== 'a'));
    const file = readFullKeyFile(path);
    expect([idsOf(file.keys), idsOf(file.shared!)]).toEqual(['b', 'a b']);
    expect(changeIn(file)).toEqual({ set: [], revoke: ['a'] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('K32 a change that is none is refused', () => {
  const good = { set: [keyOf('a')], revoke: ['b'] };
  expect(readKeyChange(Buffer.from(JSON.stringify(good)))).toEqual(good);
  const bad = [
    '',
    'null',
    '[]',
    '{}',
    '{"set":[]}',
    '{"set":[{}],"revoke":[]}',
    '{"set":[],"revoke":[1]}',
    JSON.stringify({ ...good, set: [{ ...keyOf('a'), role: 'root' }] }),
    JSON.stringify({ ...good, set: [{ ...keyOf('../a') }] }),
    JSON.stringify({ ...good, set: [{ ...keyOf('a'), more: 1 }] }),
  ];
  for (const text of bad) {
    expect(() => readKeyChange(Buffer.from(text)), text).toThrow(/PARAM_TYPE|type|a change/);
  }
});
