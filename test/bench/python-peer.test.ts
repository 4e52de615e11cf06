// The peers of `bench vector --beside` that run in Python: the requests and responses between the bench and
// bench/peer/vector-peer.py, peers that fail, and the lines that the bench prints. No package of Python is needed.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startPythonPeer } from '../../bench/peer/python-peer.js';
import { type BesideRow, besideTable, cellsOf, rowOf } from '../../bench/vector/beside-table.js';
import { build, perSecond, recallOf } from '../../bench/vector/vector-measure.js';
import type { VectorSet } from '../../bench/support/vector-data.js';
import { makeFolder, removeFolder } from '../support/project.js';

const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasPipes = spawnSync('mkfifo', ['--version']).error === undefined;
const runs = hasPython && hasPipes;
if (!runs) console.log('the tests of Python peers are skipped: python3 or mkfifo is not available');

const folder = makeFolder();
afterAll(() => removeFolder(folder));

const vector = (angle: number, length: number): Float32Array =>
  Float32Array.of(Math.cos(angle) * length, Math.sin(angle) * length);

/** Vectors around a circle; the nearest of a query at the angle of row i are i, then its neighbors. */
const circle: VectorSet = {
  name: 'circle',
  metric: 'cosine',
  dimension: 2,
  base: Array.from({ length: 40 }, (_, i) => vector(i / 10, 1 + (i % 3))),
  queries: [0, 17].map((i) => vector(i / 10 + 0.01, 5)),
  truth: [Uint32Array.of(0, 1, 2), Uint32Array.of(17, 18, 16)],
};

const described = { name: 'peer', widths: [1, 2], isGraph: true, options: {} };

/** A program that answers as a peer whose build fails. */
function failingPeer(): string {
  const path = join(folder, 'failing');
  const lines = ['#!/bin/sh', `echo '{"ready":true}'`, `read line; echo '{"error":"no memory"}'`];
  writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o755 });
  return path;
}

describe.runIf(runs)('a peer in Python', () => {
  test('builds, finds the nearest rows, and reports its own CPU time', async () => {
    const peer = startPythonPeer(circle, { ...described, kind: 'exact' }, 'python3')!;
    const [seconds] = build(circle, [peer]);
    expect(seconds).toBeGreaterThanOrEqual(0);
    expect(peer.bytes()).toBe(40 * 2 * 4);
    peer.setWidth(1);
    expect(peer.searchAll(3).found).toEqual([
      [0, 1, 2],
      [17, 18, 16],
    ]);
    expect(recallOf(peer, circle.truth, 3)).toBe(1);
    expect(recallOf(peer, circle.truth, 1)).toBeCloseTo(1 / 3);
    expect(perSecond(circle, peer, 3)).toBeGreaterThan(0);
    await peer.close!();
  });

  test.each([
    ['that is unknown', 'unknown', 'python3', "peer is left out: KeyError: 'unknown'"],
    [
      'whose program is absent',
      'exact',
      '/absent/python3',
      'peer is left out: the process has ended',
    ],
  ])('%s is left out with a printed reason', (_, kind, python, printed) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    expect(startPythonPeer(circle, { ...described, kind }, python)).toBeUndefined();
    expect(log.mock.calls).toEqual([[printed]]);
    log.mockRestore();
  });

  test('gives the error of a request that fails, and of a process that ends', async () => {
    const peer = startPythonPeer(circle, { ...described, kind: 'exact' }, failingPeer())!;
    expect(() => build(circle, [peer])).toThrow('no memory');
    expect(() => peer.searchAll(3)).toThrow(/the process has ended|EPIPE/);
    await peer.close!();
  });
});

const row = (contender: string, recall: number, more: Partial<BesideRow>): BesideRow => ({
  data: 'circle',
  k: 10,
  recall,
  contender,
  micros: 20,
  oursIs: undefined,
  isNarrowest: false,
  best: 0.9812,
  ...more,
});

const rows = [
  row('trellisdb', 0.9, { isNarrowest: true }),
  row('trellisdb', 0.95, { micros: 140.4 }),
  row('peer', 0.9, { micros: 10, oursIs: 0.5 }),
  row('peer', 0.95, { micros: 210.6, oursIs: 1.5 }),
  row('other', 0.9, { micros: 40, oursIs: 2 }),
  row('other', 0.95, { micros: undefined }),
];

test('the table has bold losses, upper bounds and recalls that are not reached', () => {
  expect(besideTable(rows).split('\n')).toEqual([
    '| data | k | contender | µs at .90 | µs at .95 | best recall |',
    '|---|---:|---|---:|---:|---:|',
    '| circle | 10 | trellisdb | <20.0 | 140 | .9812 |',
    '| circle | 10 | peer | 10.0, **0.50x** | 211, 1.50x | .9812 |',
    '| circle | 10 | other | 40.0, 2.00x | – | .9812 |',
  ]);
});

test('a row of a result file gives the same row again', () => {
  expect(rows.map((each) => rowOf(cellsOf(each)))).toEqual(rows);
});
