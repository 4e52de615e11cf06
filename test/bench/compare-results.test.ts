// `bench compare`: which numbers of two result files count as moved, and which columns are numbers at all.
import { describe, expect, test } from 'vitest';
import { type ColumnKind, columnKind, isCpuTime } from '../../bench/compare/column-kind.js';
import { compareResults } from '../../bench/compare/compare-results.js';
import { allowedRise, benchOf, isRegression, mergeRuns } from '../../bench/compare/merge-runs.js';
import { shortBenches } from '../../bench/compare/short-benches.js';
import { type Result, machineKind, readResults } from '../../bench/support/result-file.js';
import { roundsOf } from '../../bench/support/sample-times.js';
import type { ResultTable } from '../../bench/support/table.js';
import { root } from '../support/project.js';
import { join } from 'node:path';

const resultOf = (...tables: ResultTable[]): Map<string, Result> =>
  new Map([['http', { bench: 'http', date: '', machine: '', load: '', commit: '', tables }]]);

/** A table of one row with one number, and its spread. */
const one = (column: string, value: number, spread?: number): ResultTable => ({
  title: '',
  columns: ['call', 'connections', column],
  rows: [['point read', 64, value]],
  ...(spread !== undefined && { spreads: [[null, null, spread]] }),
});

const cases: {
  name: string;
  column: string;
  before: [value: number, spread?: number];
  after: [value: number, spread?: number];
  expected: { ratio: number; noise: number; isMoved: boolean };
}[] = [
  {
    name: 'less CPU time than the rounds explain is better',
    column: 'CPU us/request',
    before: [20, 0.03],
    after: [16, 0.04],
    expected: { ratio: 1.25, noise: 0.07, isMoved: true },
  },
  {
    name: 'more CPU time is worse',
    column: 'CPU us/request',
    before: [16, 0.03],
    after: [20, 0.04],
    expected: { ratio: 0.8, noise: 0.07, isMoved: true },
  },
  {
    name: 'fewer requests a second are worse',
    column: 'requests/s',
    before: [1000, 0],
    after: [800, 0],
    expected: { ratio: 0.8, noise: 0.05, isMoved: true },
  },
  {
    name: 'a difference within the spreads of both is noise',
    column: 'p50 us',
    before: [100, 0.1],
    after: [118, 0.1],
    expected: { ratio: 0.847, noise: 0.2, isMoved: false },
  },
  {
    name: 'a difference below 5 % is noise, however close the rounds lie',
    column: 'p50 us',
    before: [100, 0.001],
    after: [104, 0.001],
    expected: { ratio: 0.962, noise: 0.05, isMoved: false },
  },
  {
    name: 'without any spread, 25 % are noise',
    column: 'p50 us',
    before: [100],
    after: [120],
    expected: { ratio: 0.833, noise: 0.25, isMoved: false },
  },
  {
    name: 'without any spread, more than 25 % is a move',
    column: 'p50 us',
    before: [100],
    after: [130],
    expected: { ratio: 0.769, noise: 0.25, isMoved: true },
  },
  {
    name: 'a spread that only one file has is added to 25 %',
    column: 'p50 us',
    before: [100],
    after: [130, 0.1],
    expected: { ratio: 0.769, noise: 0.35, isMoved: false },
  },
];

describe('a number of two runs', () => {
  test.each(cases)('$name', ({ column, before, after, expected }) => {
    const [old, young] = [one(column, ...before), one(column, ...after)].map((it) => resultOf(it));
    const { compared } = compareResults(old!, young!);
    expect(compared).toHaveLength(1);
    const [{ ratio, noise, isMoved, row }] = compared as [(typeof compared)[0]];
    expect(ratio).toBeCloseTo(expected.ratio, 3);
    expect(noise).toBeCloseTo(expected.noise, 9);
    expect(isMoved).toBe(expected.isMoved);
    expect(row).toBe('point read, 64');
  });
});

test('rows are matched by what they are called, and what only one file has is named', () => {
  const table = (rows: [string, number, number][]): ResultTable => ({
    title: '',
    columns: ['call', 'connections', 'p50 us'],
    rows,
  });
  const { compared, onlyBefore, onlyAfter } = compareResults(
    resultOf(
      table([
        ['read', 1, 10],
        ['read', 64, 20],
        ['hop', 1, 30],
      ]),
    ),
    resultOf(
      table([
        ['read', 64, 20],
        ['write', 1, 40],
        ['read', 1, 10],
      ]),
    ),
  );
  expect(compared.map(({ row, ratio }) => [row, ratio])).toEqual([
    ['read, 1', 1],
    ['read, 64', 1],
  ]);
  expect(onlyBefore).toEqual(['http: hop, 1']);
  expect(onlyAfter).toEqual(['http: write, 1']);
});

test('a table with one quantity a row is compared by the units of its rows', () => {
  const table = (mb: number, rate: number): ResultTable => ({
    title: '',
    columns: ['nodes', '10,000', '100,000', 'ten times'],
    rows: [
      ['file, MB', mb, mb * 10, 10],
      ['import, rows/s', rate, rate, 1],
    ],
  });
  const { compared } = compareResults(resultOf(table(10, 500)), resultOf(table(20, 1000)));
  expect(compared.map(({ row, column, ratio }) => [row, column, ratio])).toEqual([
    ['file, MB', '10,000', 0.5],
    ['file, MB', '100,000', 0.5],
    ['import, rows/s', '10,000', 2],
    ['import, rows/s', '100,000', 2],
  ]);
});

const headings: [heading: string, kind: ColumnKind, isCpu: boolean][] = [
  ['call', 'key', false],
  ['', 'key', false],
  ['k', 'key', false],
  ['contender', 'key', false],
  ['CPU us/request', 'lower', true],
  ['CPU ms', 'lower', true],
  ['CPU s', 'lower', true],
  ['p99 us', 'lower', false],
  ['build s', 'lower', false],
  ['B/vector', 'lower', false],
  ['disk MB', 'lower', false],
  ['requests/s', 'higher', false],
  ['requests/CPU s', 'higher', false],
  ['QPS', 'higher', false],
  ['nDCG@10', 'higher', false],
  ['best recall', 'higher', false],
  ['ours is', 'ignored', false],
  ['p99 ratio', 'ignored', false],
  ['wrong', 'ignored', false],
  ['failed', 'ignored', false],
];

test.each(headings)('the column "%s" is: %s', (heading, kind, isCpu) => {
  expect(columnKind(heading)).toBe(kind);
  expect(isCpuTime(heading)).toBe(isCpu);
});

test('the spread is half of the distance between the extreme rounds, as a share of the median', () => {
  expect(roundsOf([100, 90, 130])).toEqual({ median: 100, spread: 0.2 });
  expect(roundsOf([7])).toEqual({ median: 7, spread: 0 });
  expect(roundsOf([0, 0])).toEqual({ median: 0, spread: 0 });
});

test('the kind of a machine is its processors and the major version of Node', () => {
  expect(machineKind('2 x AMD EPYC, Node 20.20.2')).toBe('2-amd-epyc-node-20');
  expect(machineKind('16 x Intel(R) Xeon(R) Processor @ 2.60GHz, Node 22.1.0')).toBe(
    '16-intel-r-xeon-r-processor-2-60ghz-node-22',
  );
});

test('several runs of a bench are merged by the places of their rows', () => {
  const table = (cpu: number): ResultTable => ({
    title: 'in process',
    columns: ['call', 'connections', 'CPU us/request'],
    rows: [['read', '64', cpu]],
  });
  const runs = [10, 12, 14].map((cpu) => [...resultOf(table(cpu)).values()][0]!);
  expect(mergeRuns('server: http', runs)).toEqual([
    {
      title: 'server: http, in process',
      columns: ['call', 'connections', 'CPU us/request'],
      rows: [['read', '64', { median: 12, spread: 2 / 12 }]],
    },
  ]);
});

test('a row that is compared says which bench is run again', () => {
  const runs = [resultOf(one('CPU us', 1), one('CPU us', 2))].map((it) => [...it.values()][0]!);
  const tables = mergeRuns('server: http', runs).map((table) => ({
    ...table,
    rows: [['read', 64, 1]],
  }));
  const { compared } = compareResults(resultOf(...tables), resultOf(...tables));
  expect(compared.map(({ row }) => [row, benchOf(row)])).toEqual([
    ['server: http: read, 64', 'http'],
    ['server: http 2: read, 64', 'http'],
  ]);
});

test('a row that one of the runs does not have is left out of the merged table', () => {
  const table = (...names: string[]): ResultTable => ({
    title: '',
    columns: ['call', 'CPU us'],
    rows: names.map((name) => [name, 1]),
  });
  const runs = [table('read', 'hop'), table('read')].map(
    (each) => [...resultOf(each).values()][0]!,
  );
  const [merged] = mergeRuns('server: http', runs);
  expect(merged!.rows.map(([name]) => name)).toEqual(['read']);
});

const risen: { name: string; column: string; before: number; after: number; spread: number }[] = [
  { name: '9 % more CPU', column: 'CPU us', before: 100, after: 109, spread: 0.01 },
  { name: '50 % more wall time', column: 'p50 us', before: 100, after: 150, spread: 0.01 },
  {
    name: '15 % more CPU with runs 10 % apart',
    column: 'CPU us',
    before: 100,
    after: 115,
    spread: 0.1,
  },
  { name: 'half of the CPU', column: 'CPU us', before: 100, after: 50, spread: 0.01 },
];

describe('a regression', () => {
  const judged = (column: string, before: number, after: number, spread: number): boolean => {
    const [old, young] = [before, after].map((value) => resultOf(one(column, value, spread)));
    return compareResults(old!, young!).compared.some(isRegression);
  };

  test.each(risen)('is not $name', ({ column, before, after, spread }) => {
    expect(judged(column, before, after, spread)).toBe(false);
  });

  test('is 11 % more CPU, if the runs lie close together', () => {
    expect(allowedRise).toBe(0.1);
    expect(judged('CPU us/request', 100, 111, 0.01)).toBe(true);
  });

  test('is more CPU by the heading of the first column', () => {
    const table = (value: number): ResultTable => ({
      title: '',
      columns: ['CPU us a row', '1 a call'],
      rows: [['AddN', value]],
      spreads: [[null, 0.01]],
    });
    const { compared } = compareResults(resultOf(table(10)), resultOf(table(12)));
    expect(compared.filter(isRegression)).toHaveLength(1);
  });
});

test('the short run has at least one bench of each family, and names each bench once', () => {
  const benches = shortBenches.map(({ bench }) => bench);
  expect(new Set(benches).size).toBe(benches.length);
  const families = [
    'language',
    'graph',
    'embedded',
    'server',
    'writes',
    'text',
    'import',
    'vector',
    'cluster',
  ];
  expect([...new Set(shortBenches.map(({ family }) => family))]).toEqual(families);
});

test('every committed result has numbers that are compared, and none moved against itself', () => {
  for (const [name, result] of readResults(join(root, 'bench/results'))) {
    const itself = new Map([[name, result]]);
    const { compared, onlyBefore, onlyAfter } = compareResults(itself, itself);
    expect(compared.length, name).toBeGreaterThan(0);
    expect(compared.filter(({ isMoved }) => isMoved)).toEqual([]);
    expect([...onlyBefore, ...onlyAfter]).toEqual([]);
  }
});
