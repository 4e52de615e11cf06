// The lock between the writer and the snapshot thread: never both inside, the sequence handed over is
// the writer's last, and a snapshot thread that has died costs the writer seconds, not its life.
import { expect, test } from 'vitest';
import {
  createLatchBuffer,
  snapshotLatchOf,
  WriterLatch,
} from '../../engine/database/vectors/snapshot-latch.js';

test('the snapshot thread gets the sequence of the last finished change', () => {
  const buffer = createLatchBuffer(7);
  const writer = new WriterLatch(buffer);
  const snapshot = snapshotLatchOf(buffer);
  expect(snapshot.begin()).toBe(7);
  expect(writer.tryBegin()).toBe(false);
  snapshot.end();
  expect(writer.tryBegin()).toBe(true);
  writer.end(9);
  expect(snapshot.begin()).toBe(9);
  snapshot.end();
});

test('a cancelled snapshot stops at its next tick', () => {
  const buffer = createLatchBuffer(1);
  const snapshot = snapshotLatchOf(buffer);
  snapshot.tick();
  new WriterLatch(buffer).giveUp();
  expect(() => snapshot.tick()).toThrow();
});

test('a snapshot thread that hangs loses its snapshot, and the writer continues', () => {
  const buffer = createLatchBuffer(1);
  const writer = new WriterLatch(buffer, 20);
  const snapshot = snapshotLatchOf(buffer);
  snapshot.begin();
  writer.begin();
  expect(() => snapshot.tick()).toThrow();
  expect(() => snapshot.end()).toThrow();
  writer.end(2);
  expect(writer.tryBegin()).toBe(true);
});
