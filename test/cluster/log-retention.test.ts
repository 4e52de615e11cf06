// What of a log is kept, told by its keeper: without a clock, a disk or a network.
import { expect, test } from 'vitest';
import { LogRetention } from '../../engine/cluster/role/log-retention.js';

const logOf = (first: number, last: number, bytes: number) => ({
  first: async () => first,
  last: async () => last,
  size: async () => bytes,
});

test('K26 what is younger than `keep` stays, as far as the bytes allow', async () => {
  const keeper = new LogRetention({ keepMs: 1000, keepBytes: 100 });
  expect(await keeper.check(logOf(1, 10, 10), 10, 0)).toBeUndefined();
  expect(await keeper.check(logOf(1, 20, 20), 20, 999)).toBeUndefined();
  expect(await keeper.check(logOf(1, 30, 30), 30, 1000)).toEqual({
    upTo: 10,
    isFull: false,
    dropped: [],
  });
  expect(await keeper.check(logOf(10, 30, 30), 30, 1999)).toEqual({
    upTo: 20,
    isFull: false,
    dropped: [],
  });
  // A leader begins anew, and keeps what it has not seen itself.
  keeper.reset();
  expect(await keeper.check(logOf(20, 40, 40), 40, 5000)).toBeUndefined();
});

test('K26 too many bytes: the oldest go, and never what the disk does not have', async () => {
  for (const durable of [5, 40, 100]) {
    const keeper = new LogRetention({ keepMs: 1_000_000, keepBytes: 100 });
    const due = await keeper.check(logOf(1, 101, 150), durable, 0);
    expect(due).toEqual({ upTo: Math.min(durable, 51), isFull: true, dropped: [] });
  }
});

test('K26 entries that a node or a backup needs stay while the node reports its position', async () => {
  const keeper = new LogRetention({ keepMs: 1000, keepBytes: 1000 });
  const upTo = async (at: number): Promise<number | undefined> =>
    (await keeper.check(logOf(1, at, 10), at, at))?.upTo;
  keeper.claim('slow', 50, 0);
  await upTo(100);
  await upTo(200);
  expect(await upTo(900)).toBeUndefined();
  keeper.claim('slow', 60, 900);
  keeper.claim('fast', 890, 950);
  // All up to 200 is old enough.
  expect(await upTo(1200)).toBe(60);
  expect(keeper.claims(1200)).toEqual([
    { node: 'slow', seq: 60 },
    { node: 'fast', seq: 890 },
  ]);
  keeper.setMarks([55, 70]);
  expect(await upTo(1210)).toBe(55);
  keeper.claim('slow', undefined, 1220);
  expect(await upTo(1220)).toBe(55);
  keeper.setMarks([70, 80]);
  expect(await upTo(1230)).toBe(70);
  keeper.setMarks([]);
  expect(await upTo(1240)).toBe(200);
  expect(await upTo(1900)).toBe(890);
  // Not heard of for too long: it is away, and the log goes on without it.
  expect(await upTo(1950)).toBe(900);
  expect(keeper.claims(1950)).toEqual([]);
});

test('K26 too many bytes: the log names the nodes that lose entries', async () => {
  const keeper = new LogRetention({ keepMs: 1000, keepBytes: 100 });
  keeper.claim('slow', 20, 0);
  keeper.claim('fast', 90, 0);
  keeper.setMarks([30]);
  const due = await keeper.check(logOf(1, 101, 150), 100, 0);
  expect(due).toEqual({ upTo: 51, isFull: true, dropped: ['slow', 'a backup'] });
});
