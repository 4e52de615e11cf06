// What `trellis dev` tells (tooling.md 3): the screen, the keys, refused requests, and what another
// version of the sources changes.
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultLimits } from '../../engine/internal.js';
import { compile } from '../../engine/lang/compile.js';
import { programChanges } from '../../server/dev/schema-diff.js';
import { openPage } from '../../server/dev/open-page.js';
import { RequestLines } from '../../server/dev/request-printer.js';
import { obeyKeys, readyScreen } from '../../server/dev/dev-banner.js';

afterEach(() => void vi.useRealTimers());

describe('what a reload changes', () => {
  const base = `N::A { x: U8, name: String }
QUERY all() => a <- N<A> RETURN a::{x}
QUERY one(x: U8) => a <- N<A>::WHERE(_::{x}::EQ(x)) RETURN a::{x}
`;
  const migrated = `schema::1 { N::A { x: U8, name: String } }
schema::2 { N::B { x: U8, name: String } }
MIGRATION schema::1 => schema::2 { N::A => N::B { x: x, name: name } }`;
  const programOf = (text: string) => {
    const source = [{ path: 'a.hx', text }];
    const { program, diagnostics } = compile(source, { compat: false, limits: defaultLimits });
    return program ?? expect.fail(JSON.stringify(diagnostics));
  };
  const cases: [string, [string, string][], string[]][] = [
    ['nothing', [], []],
    [
      'a renamed property',
      [['name:', 'title:']],
      ['+ N::A.title: String', '- N::A.name is hidden; its values stay stored'],
    ],
    ['a type more', [['QUERY all', 'E::B { From: A, To: A }\nQUERY all']], ['+ E::B']],
    [
      'a type that a migration renames',
      [
        ['N::A { x: U8, name: String }', migrated],
        ['all() => a <- N<A>', 'all() => a <- N<B>'],
        ['one(x: U8) => a <- N<A>', 'one(x: U8) => a <- N<B>'],
      ],
      ['~ N::B, was N::A'],
    ],
    ['a renamed query', [['QUERY one', 'QUERY only']], ['+ query only(x: U8)', '- query one']],
    [
      'another parameter',
      [['one(x: U8)', 'one(x: U8, y?: [String])']],
      ['~ query one: takes (x: U8, y?: [String])'],
    ],
    [
      'another answer',
      [['RETURN a::{x}', 'RETURN a::{name}']],
      ['~ query all: answers a.name too; no longer answers a.x'],
    ],
    [
      'another type of an answer',
      [
        ['x: U8, name', 'x: U16, name'],
        ['one(x: U8)', 'one(x: U16)'],
      ],
      [
        '~ N::A.x: U16, was U8',
        '~ query all: answers other types',
        '~ query one: takes (x: U16); answers other types',
      ],
    ],
  ];
  it.each(cases)('%s', (_, edits, lines) => {
    let text = base;
    for (const [from, to] of edits) text = text.replace(from, to);
    expect(programChanges(programOf(base), programOf(text))).toEqual(lines);
  });
  it('is found in moments where types share their parts', () => {
    let type: unknown = { kind: 'scalar', name: 'U8' };
    for (let i = 0; i < 60; i++) {
      type = {
        kind: 'record',
        members: [
          { name: 'a', type },
          { name: 'b', type },
        ],
      };
    }
    const [before, after] = [programOf(base), programOf(base)];
    before.queries[0]!.output = { members: [{ name: 'a', type: type as never }] };
    after.queries[0]!.output = { members: [{ name: 'a', type: { kind: 'unknown' } }] };
    expect(programChanges(before, after)[0]).toMatch(/^~ query all: no longer answers a\.a, /);
  });
});

it('prints twenty requests a second, then how many more', () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const requests = new RequestLines((line) => lines.push(line));
  const refusal = {
    method: 'POST',
    path: '/q',
    status: '404',
    code: 'NOT_FOUND',
    ms: 1.25,
  } as const;
  const add = (count: number) => {
    for (let i = 0; i < count; i++) requests.add(refusal);
  };
  add(25);
  expect(lines).toEqual(Array(20).fill('POST /q 404 NOT_FOUND 1.3 ms'));
  vi.advanceTimersByTime(1_000);
  expect(lines.slice(20)).toEqual(['5 more requests in that second']);
  add(1);
  vi.advanceTimersByTime(5_000);
  expect(lines).toHaveLength(22);
  const answer = { method: 'POST', path: '/worksOf', status: '200', ms: 0.31, rows: 1 };
  requests.add(answer);
  requests.add({ ...answer, path: '/addWork', rows: undefined });
  // Nobody wrote these by hand.
  requests.add({ ...answer, path: '/_explore/items' });
  requests.add({ ...answer, method: 'GET', path: '/readyz' });
  requests.add({ ...refusal, path: '/_explore/items' });
  expect(lines.slice(22)).toEqual([
    'POST /worksOf 200 0.3 ms 1 row',
    'POST /addWork 200 0.3 ms',
    'POST /_explore/items 404 NOT_FOUND 1.3 ms',
  ]);
});

it('says so where nothing opens a page', async () => {
  const told: string[] = [];
  openPage('http://h:1', (what) => told.push(what), 'win32');
  if (process.platform !== 'win32')
    await vi.waitFor(() =>
      expect(told).toEqual(['There is no rundll32 here: open http://h:1 yourself.']),
    );
});

it('W03: shows addresses, and obeys keys', async () => {
  const facts = {
    version: '1.2.3',
    ms: 411.6,
    url: 'http://h:1',
    dataDir: 'd',
    typesOut: 'src/db.ts',
    sample: 'http://h:1/a',
    agents: true,
    project: 'my app',
  };
  const screen = readyScreen({ ...facts, queries: 1, types: 2 }, (_, text) => text);
  expect(screen).toMatch(/TrellisDB 1\.2\.3 {2}ready in 412 ms/);
  expect(screen).toMatch(/POST http:\/\/h:1\/<name> {2}1 query, 2 types/);
  expect(screen).toMatch(/Types +src\/db\.ts/);
  expect(screen).toMatch(/Agents .*claude mcp add --transport http my-app http:\/\/h:1\/mcp/);
  const done: string[] = [];
  const keyboard = new PassThrough();
  obeyKeys(keyboard, {
    open: () => done.push('open'),
    reload: () => done.push('reload'),
    types: () => done.push('types'),
    quit: () => done.push('quit'),
    print: (text) => done.push(text.trim()),
  });
  keyboard.write('r\no\nt\nwhat\ntoString\nh\nq\n');
  await vi.waitFor(() => expect(done.at(-1)).toBe('quit'));
  expect(done).toEqual([
    'reload',
    'open',
    'types',
    expect.stringMatching(/^h {2}this help/),
    'quit',
  ]);
});
