// Positions as tokens: whether a node has what one tells of, against what the nodes of a log hold and of those made
// anew of it; and what a thread sees of a position that another one moves.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { firstEpoch, packPosition } from '../../engine/cluster/link/position.js';
import { ClusterWords } from '../../engine/cluster/link/words.js';
import { type ClusterPosition, isAt } from '../../engine/cluster/node.js';
import { root } from '../support/project.js';

/** A node in a log: where it says it is, the entries that it has, and those given up for its log. */
interface Place {
  position: ClusterPosition;
  has: ReadonlySet<string>;
  lost: ReadonlySet<string>;
}

/** All places in a log of these epochs, and in those made anew of the data at some of them. */
function places(name: string, from: Place | undefined, epochs: readonly number[]): Place[] {
  const before = from && packPosition({ ...from.position, chain: 1n, leader: undefined }, 'r');
  const base = firstEpoch(before);
  const has = new Set(from?.has);
  return epochs.map((epoch, i) => {
    has.add(`${name}${i}`);
    const position = { epoch: base + epoch, seq: i + 1 };
    return { position, has: new Set(has), lost: from?.lost ?? new Set<string>() };
  });
}

test('CT2 a node has all that a token tells of, or says no: in one log, and across those that were lost', () => {
  const first = places('a', undefined, [0, 0, 1, 1, 1, 2, 5, 5]);
  let logs = [first];
  // One after another: of the data of a node that was not the furthest, too.
  for (const [name, at] of [
    ['b', 3],
    ['c', 1],
  ] as const) {
    const old = logs.at(-1)!;
    const entries = logs.flatMap((log) => log.flatMap(({ has }) => [...has]));
    const { has } = old[at]!;
    const lost = new Set(entries.filter((entry) => !has.has(entry)));
    logs = [...logs, places(name, { ...old[at]!, lost }, [0, 1, 1])];
  }
  const all = logs.flat();
  let [yes, no] = [0, 0];
  for (const node of all)
    for (const token of all) {
      // What was given up when its log was made, nobody has any more.
      const isEnough = [...token.has].every((one) => node.has.has(one) || node.lost.has(one));
      expect([node.position, token.position, isAt(node.position, token.position)]).toEqual([
        node.position,
        token.position,
        isEnough,
      ]);
      if (isEnough) yes++;
      else no++;
    }
  expect([yes, no]).toEqual([(14 * 15) / 2, (14 * 13) / 2]);
});

test('CT2 a position that moves is never seen as of an epoch before its sequence', async () => {
  const words = new ClusterWords();
  const file = pathToFileURL(join(root, 'dist/engine/cluster/link/words.js')).href;
  const text = `
    const { workerData } = require('node:worker_threads');
    import(${JSON.stringify(file)}).then(({ ClusterWords }) => {
      const words = new ClusterWords(workerData);
      // Each entry is of an epoch of its own.
      for (let n = 1; n <= 5e5; n++) words.reach({ epoch: n, seq: n });
    });`;
  const worker = new Worker(text, { eval: true, workerData: words.buffer });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  let moved = 0;
  const wrong: ClusterPosition[] = [];
  for (let last = -1; last < 5e5; ) {
    for (let i = 0; i < 10_000; i++) {
      const position = words.position;
      if (position.epoch < position.seq) wrong.push(position);
      if (position.seq > last) moved++;
      last = position.seq;
    }
    await new Promise(setImmediate);
  }
  await ended;
  expect(wrong).toEqual([]);
  expect(moved).toBeGreaterThan(10);
});
