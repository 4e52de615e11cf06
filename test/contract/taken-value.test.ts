// A value that a unique index already has: the error names the value, and its item in a list that was sent.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TrellisError } from '../../engine/base/errors.js';
import { openEmbedded } from '../support/server/embedded-server.js';

const source = `
N::Item { UNIQUE INDEX name: String, UNIQUE INDEX code: I64, UNIQUE INDEX day: Date }
E::Next UNIQUE { From: Item, To: Item }
QUERY add(name: String, code?: I64, day?: Date) =>
    item <- AddN<Item>({name: name, code: code, day: day})
    RETURN item
QUERY addAll(rows: [{name: String, code?: I64}]) =>
    FOR {name, code} IN rows { AddN<Item>({name: name, code: code}) }
    RETURN "done"
QUERY addGroups(groups: [{names: [String]}]) =>
    FOR {names} IN groups { FOR name IN names { AddN<Item>({name: name}) } }
    RETURN "done"
QUERY link(pairs: [{a: String, b: String}]) =>
    FOR {a, b} IN pairs { AddE<Next>::From(N<Item>({name: a}))::To(N<Item>({name: b})) }
    RETURN "done"
QUERY count() => RETURN N<Item>::COUNT
`;

let opened: Awaited<ReturnType<typeof openEmbedded>>;
beforeAll(async () => {
  opened = await openEmbedded({ sources: { 'main.hx': source }, config: {} });
  await opened.db.call('add', { name: 'taken', code: 7, day: '2026-03-01' });
});
afterAll(() => opened.dispose());

const rows = (...names: string[]): object[] => names.map((name) => ({ name }));

const cases: [
  title: string,
  query: string,
  body: Record<string, unknown>,
  hint: string | undefined,
  path?: string,
][] = [
  ['a text', 'add', { name: 'taken' }, 'The value "taken" is taken.'],
  ['a number', 'add', { name: 'n', code: 7 }, 'The value 7 is taken.'],
  [
    'a date',
    'add',
    { name: 'd', day: '2026-03-01' },
    'The value 2026-03-01T00:00:00+00:00 is taken.',
  ],
  [
    'the third item',
    'addAll',
    { rows: rows('a', 'b', 'taken', 'c') },
    'The value "taken" is taken.',
    '/rows/2',
  ],
  [
    'an item like an earlier one',
    'addAll',
    { rows: rows('a', 'b', 'a') },
    'The value "a" is taken.',
    '/rows/2',
  ],
  [
    'an item of a list of lists',
    'addGroups',
    { groups: [{ names: ['a'] }, { names: ['b', 'taken'] }] },
    'The value "taken" is taken.',
    '/groups/1',
  ],
  [
    'a long text',
    'addAll',
    { rows: rows('x'.repeat(500), 'x'.repeat(500)) },
    `The value "${'x'.repeat(64)}…" is taken.`,
    '/rows/1',
  ],
  [
    'a pair of a unique edge',
    'link',
    {
      pairs: [
        { a: 'taken', b: 'taken' },
        { a: 'taken', b: 'taken' },
      ],
    },
    undefined,
    '/pairs/1',
  ],
];

test.each(cases)('AG07 %s', async (_, query, body, hint, path) => {
  const error: TrellisError = await opened.db.call(query, body).then(
    () => expect.fail('the value is accepted'),
    (error: TrellisError) => error,
  );
  expect([error.code, error.data.hint, error.data.path]).toEqual(['UNIQUE_VIOLATION', hint, path]);
  expect(await opened.db.call('count')).toEqual({ data: 1 });
});
