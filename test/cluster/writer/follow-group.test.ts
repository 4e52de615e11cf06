// K34: how a follower groups what waits: at most 512 entries, and no more once 16 MiB are together, in one transaction;
// what changes the program or compares tables stands alone. Its vectors are published in the order of the log.
import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ChangeWriter } from '../../../engine/cluster/entry/changes.js';
import { entryKind } from '../../../engine/cluster/entry/kind.js';
import {
  type FollowParts,
  LogFollower,
} from '../../../engine/database/replication/log-follower.js';
import type { VectorChange } from '../../../engine/storage/table/view-types.js';

/** One change of `bytes`, whose key is the number of its entry. */
function bodyOf(seq: number, bytes: number): Uint8Array {
  const writer = new ChangeWriter();
  writer.put(0, Uint8Array.of(seq & 255, seq >> 8), new Uint8Array(bytes));
  return writer.take();
}

/** A follower over parts that note what it does with them. */
function follower() {
  const groups: number[][] = [];
  const published: number[] = [];
  const told: number[] = [];
  const port = new EventEmitter();
  const position = { epoch: 1, seq: 0, chain: 0n, leader: undefined, epochs: [] };
  const log = {
    position,
    words: { durable: 0, leaderTime: 0 },
    clusterMetrics: { observe: () => undefined, add: () => undefined },
    pack: () => new Uint8Array(0),
    send: ({ seq }: { seq: number }) => told.push(seq),
    advanceTo: (next: typeof position) => {
      log.position = next;
    },
    resign: () => undefined,
  };
  const storage = {
    follow: (_: Uint8Array, apply: (visit: (table: number, key: Uint8Array) => void) => void) => {
      const group: number[] = [];
      apply((_, key) => group.push(key[0]! + 256 * key[1]!));
      groups.push(group);
      return group.map((id): VectorChange => ({ kind: 'delete', label: 1, id }));
    },
    committedSeq: () => 0,
    recordPosition: () => undefined,
    permit: { closedBecause: undefined },
    env: { room: { need: () => undefined, shortage: () => undefined } },
  };
  const parts = {
    ...{
      storage,
      log,
      port,
      loads: { invalidateNames: () => undefined },
      control: { publishCommit: () => undefined },
    },
    vectors: {
      publish: (changes: VectorChange[]) => published.push(...changes.map(({ id }) => id)),
    },
    writerMetrics: { during: <T>(work: () => T) => work(), set: () => undefined },
    onSources: () => undefined,
    onError: (error: unknown) => expect.fail(JSON.stringify(error)),
    onApplied: () => undefined,
  } as unknown as FollowParts;
  new LogFollower(parts);
  let seq = 0;
  const send = (count: number, bytes: number, kind: number = entryKind.changes): void => {
    for (let i = 0; i < count; i++) {
      const at = ++seq;
      const body = kind === entryKind.changes ? bodyOf(at, bytes) : new Uint8Array(0);
      const entry = { kind, body, time: 0, position: { epoch: 1, seq: at, chain: BigInt(at) } };
      port.emit('message', { kind: 'entry', entry });
    }
  };
  const done = async (): Promise<void> => {
    while (told.at(-1) !== seq) await turn();
  };
  return { groups, published, told, send, done };
}

const mib = 1024 * 1024;

test.each([
  ['fewer than a group', 100, 10, [100]],
  ['a whole one', 512, 10, [512]],
  ['one more', 513, 10, [512, 1]],
  ['many', 1500, 10, [512, 512, 476]],
  ['large ones', 7, 5 * mib, [4, 3]],
  ['beyond the bytes alone', 2, 17 * mib, [1, 1]],
])('K34 %s', async (_, count, bytes, expected) => {
  const { groups, published, told, send, done } = follower();
  send(count, bytes);
  await done();
  expect(groups.map(({ length }) => length)).toEqual(expected);
  const inOrder = Array.from({ length: count }, (_, i) => i + 1);
  expect(published).toEqual(inOrder);
  // After each transaction it is said how far that was.
  expect(told).toEqual(expected.map((_, i) => expected.slice(0, i + 1).reduce((a, b) => a + b)));
});

test('K34 entries without changes lie in a group and are none of it', async () => {
  const { groups, send, done } = follower();
  send(3, 10);
  send(2, 0, entryKind.beat);
  send(3, 10);
  await done();
  expect(groups).toEqual([[1, 2, 3, 6, 7, 8]]);
});
