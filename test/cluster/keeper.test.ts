// What of a log is kept, told by its keeper: without a clock, a disk or a network.
import { expect, test } from 'vitest';
import { LogKeeper } from '../../engine/cluster/role/log-keeper.js';

const logOf = (first: number, last: number, bytes: number) => ({
  first: async () => first,
  last: async () => last,
  size: async () => bytes,
});

test('K26 what is younger than `keep` stays, as far as the bytes allow', async () => {
  const keeper = new LogKeeper({ keepMs: 1000, keepBytes: 100 });
  expect(await keeper.look(logOf(1, 10, 10), 10, 0)).toBeUndefined();
  expect(await keeper.look(logOf(1, 20, 20), 20, 999)).toBeUndefined();
  expect(await keeper.look(logOf(1, 30, 30), 30, 1000)).toEqual({ upTo: 10, isFull: false });
  expect(await keeper.look(logOf(10, 30, 30), 30, 1999)).toEqual({ upTo: 20, isFull: false });
  // A leader begins anew, and keeps what it has not seen itself.
  keeper.reset();
  expect(await keeper.look(logOf(20, 40, 40), 40, 5000)).toBeUndefined();
});

test('K26 too many bytes: the oldest go, and never what the disk does not have', async () => {
  for (const durable of [5, 40, 100]) {
    const keeper = new LogKeeper({ keepMs: 1_000_000, keepBytes: 100 });
    const due = await keeper.look(logOf(1, 101, 150), durable, 0);
    expect(due).toEqual({ upTo: Math.min(durable, 51), isFull: true });
  }
});
