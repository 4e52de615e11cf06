// Positions as tokens: whether a node has what one tells of, against what the nodes of a log hold, of those made
// anew of it, and of those that lost their end; and what a thread sees of a position that another one moves.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { Position } from '../../engine/cluster/entry/chain.js';
import { withEpoch } from '../../engine/cluster/ipc/epochs.js';
import { firstEpoch, packPosition, readPosition } from '../../engine/cluster/ipc/position.js';
import { ClusterState } from '../../engine/cluster/ipc/shared-state.js';
import type { ClusterPosition } from '../../engine/cluster/node.js';
import { root } from '../support/project.js';

/** A node in a log: where it is, the entries that it has, and those given up for its log. */
interface Place {
  position: ClusterPosition;
  epochs: readonly Position[];
  has: ReadonlySet<string>;
  lost: ReadonlySet<string>;
}

/** As the node says it: of what it remembers after a restart. */
function wordsOf({ position, epochs }: Place): ClusterState {
  const stored = packPosition({ ...position, chain: 1n, leader: undefined, epochs }, 'r');
  const words = new ClusterState();
  words.publishPosition(readPosition(stored, 'r'));
  return words;
}

let entries = 0;

/** All places in a log that goes on behind `from` with entries of these epochs. */
function goOn(from: Place | undefined, epochs: readonly number[]): Place[] {
  let before = from ?? {
    position: { epoch: 0, seq: 0 },
    epochs: [],
    has: new Set(),
    lost: new Set(),
  };
  return epochs.map((epoch) => {
    const position = { epoch, seq: before.position.seq + 1 };
    const has = new Set([...before.has, `e${++entries}`]);
    const starts = withEpoch(before.epochs, { ...position, chain: BigInt(entries) });
    before = { position, epochs: starts, has, lost: before.lost };
    return before;
  });
}

/** All places in a log that is made of the data at one of an earlier log. */
function beginAnew(from: Place, lost: ReadonlySet<string>, epochs: readonly number[]): Place[] {
  const base = firstEpoch(
    packPosition({ ...from.position, chain: 1n, leader: undefined, epochs: from.epochs }, 'r'),
  );
  const begun = { position: { epoch: 0, seq: 0 }, epochs: [], has: from.has, lost };
  return goOn(
    begun,
    epochs.map((epoch) => base + epoch),
  );
}

const has = (node: Place, token: Place): boolean =>
  // What was given up when its log was made, nobody has any more.
  [...token.has].every((one) => node.has.has(one) || node.lost.has(one));

test('CT2 a node has everything up to a token or refuses: in one log, and across recreated logs', () => {
  // More leaders than are remembered.
  const first = goOn(
    undefined,
    Array.from({ length: 50 }, (_, i) => i >> 1),
  );
  let logs = [first];
  // One after another: of the data of a node that was not the furthest, too.
  for (const at of [45, 1]) {
    const old = logs.at(-1)!;
    const from = old[at]!;
    const all = new Set(logs.flatMap((log) => log.flatMap((place) => [...place.has])));
    const lost = new Set([...all].filter((entry) => !from.has.has(entry)));
    logs = [...logs, beginAnew(from, lost, [0, 1, 1])];
  }
  const all = logs.flat();
  let [yes, no] = [0, 0];
  for (const node of all)
    for (const token of all) {
      const sees = wordsOf(node).hasApplied(token.position);
      expect([node.position, token.position, sees]).toEqual([
        node.position,
        token.position,
        has(node, token),
      ]);
      if (sees) yes++;
      else no++;
    }
  expect([yes, no]).toEqual([(56 * 57) / 2, (56 * 55) / 2]);
});

test('K16 CT2 a log that lost its end: a node takes no token of the one for one of the other', () => {
  const before = goOn(undefined, [0, 0, 1, 1, 2, 2, 3, 3]);
  let [told, apart, alike] = [0, 0, 0];
  for (const left of before.slice(0, -1)) {
    const { epoch } = left.position;
    for (const more of [[1], [1, 1, 1, 1, 1], [1, 2, 3, 4], [1, 1, 1, 2, 2, 3]]) {
      const after = goOn(
        left,
        more.map((one) => epoch + one),
      );
      const start = (place: Place): Position | undefined =>
        place.epochs.findLast((one) => one.epoch <= epoch);
      for (const [node, isBefore] of [
        ...before.map((place) => [place, true] as const),
        ...after.map((place) => [place, false] as const),
      ])
        for (const token of [...before, ...after]) {
          const words = wordsOf(node);
          const { seq } = token.position;
          // By numbers alone, where each had an entry of that number in an epoch of that number.
          const fits = (isBefore ? before : [...before.slice(0, left.position.seq), ...after]).some(
            ({ position }) => position.seq === seq && position.epoch === token.position.epoch,
          );
          const reaches = seq <= node.position.seq;
          expect(words.hasApplied(token.position)).toBe(has(node, token) || (fits && reaches));
          if (words.hasApplied(token.position) !== has(node, token)) alike++;
          else told++;
          if (!isBefore || node.position.seq <= left.position.seq) continue;
          // It has learned what it has in common with the log.
          words.publishEpochs(start(node)!.epoch);
          expect(words.hasApplied(token.position)).toBe(
            has(node, token) && token.position.epoch <= epoch,
          );
          apart++;
          words.publishEpochs('all');
          expect(words.hasApplied(token.position)).toBe(has(node, token) || (fits && reaches));
        }
    }
  }
  expect(Math.min(told, apart, alike)).toBeGreaterThan(100);
});

test('data of a version that remembered no epochs', () => {
  const stored = { epoch: 5, seq: 90, chain: '00000000000000ff', restoreEpoch: 'r' };
  const position = readPosition(Buffer.from(JSON.stringify(stored)), 'r');
  const words = new ClusterState();
  words.publishPosition(position);
  const sees = (epoch: number, seq: number): boolean => words.hasApplied({ epoch, seq });
  expect([sees(5, 90), sees(4, 80), sees(5, 91), sees(6, 1)]).toEqual([true, true, false, false]);
  words.publishPosition({
    epoch: 6,
    seq: 92,
    epochs: withEpoch(position.epochs, { epoch: 6, seq: 91, chain: 1n }),
  });
  expect([sees(5, 90), sees(5, 91), sees(6, 90), sees(6, 92)]).toEqual([true, false, false, true]);
});

test('CT2 a position that moves is never seen with the epoch of another', async () => {
  const words = new ClusterState();
  const file = pathToFileURL(join(root, 'dist/engine/cluster/ipc/shared-state.js')).href;
  const text = `
    const { workerData } = require('node:worker_threads');
    import(${JSON.stringify(file)}).then(({ ClusterState }) => {
      const words = new ClusterState(workerData);
      // Each entry is of an epoch of its own.
      for (let n = 1; n <= 5e5; n++) {
        const epochs = [{ epoch: n, seq: n, chain: 0n }];
        words.publishPosition({ epoch: n, seq: n, epochs });
      }
    });`;
  const worker = new Worker(text, { eval: true, workerData: words.buffer });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  let moved = 0;
  const wrong: ClusterPosition[] = [];
  for (let last = -1; last < 5e5; ) {
    for (let i = 0; i < 10_000; i++) {
      const position = words.position;
      if (position.epoch !== position.seq) wrong.push(position);
      const [one] = words.epochs;
      if (one !== undefined && one.epoch !== one.seq) wrong.push(one);
      if (position.seq > last) moved++;
      last = position.seq;
    }
    await new Promise(setImmediate);
  }
  await ended;
  expect(wrong).toEqual([]);
  expect(moved).toBeGreaterThan(10);
});
