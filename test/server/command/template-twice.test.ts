// Templates can be run twice [AG06]: the seed and each query that writes fail nowhere and double nothing when they
// run again. In the template `memory`, no user sees the memories of another.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database, Program } from '../../../engine/internal.js';
import { loadConfig } from '../../../server/config/config.js';
import { databaseOptions } from '../../../server/config/database-options.js';
import { makeProject } from '../../../server/project/new-project.js';
import { loadProgram, programOptions } from '../../../server/project/program.js';
import { runSeed } from '../../../server/project/seed.js';
import { makeFolder, removeFolder, root } from '../../support/project.js';
import { built } from '../../support/server/embedded-server.js';

const { openDatabase } =
  await built<typeof import('../../../engine/internal.js')>('engine/internal.js');

type Call = [query: string, body: object];

/** The members of replies that the tests read. */
interface Reply {
  entity: { chunks: string[] };
  chunks: { text: string }[];
  documents: { source: string }[];
  episode: { episodeId: string };
  episodes: { user: string }[];
  facts: { text: string; valid_to: string | null }[];
}

let folder: string;
let database: Database;
let program: Program;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await database.close({ snapshot: false });
  removeFolder(folder);
});

async function openTemplate(template: string): Promise<void> {
  const templates = join(root, 'server/template');
  makeProject({ folder, templates, template, version: '0.0.0', hasClient: false });
  const config = loadConfig({ projectDir: folder, flags: new Map(), environment: {} });
  program = loadProgram(programOptions(config)).program!;
  database = await openDatabase(databaseOptions(config, program, () => undefined));
}

async function call(query: string, body: object = {}): Promise<Reply> {
  const reply = await database.call(query, Buffer.from(JSON.stringify(body)));
  return JSON.parse(Buffer.from(reply).toString());
}

/** Returns how many elements each type has. */
const counts = (): Record<string, number> =>
  database.view((view) =>
    Object.fromEntries(view.catalog.labels().map(({ id, name }) => [name, view.count(id)])),
  );

/** Calls of a template that read everything which its writes change. */
const reads: Record<string, Call[]> = {
  start: [
    ['people', {}],
    ['booksOf', { name: 'Jules Verne' }],
    ['booksBetween', { first: 1, last: 2000 }],
  ],
  graphrag: [
    ['documents', {}],
    ['search', { text: 'engine', k: 20 }],
    ['searchDocuments', { text: 'engine', k: 20 }],
    ['context', { text: 'engine', k: 20 }],
    ['aboutEntity', { name: 'Analytical Engine' }],
    ['aboutEntity', { name: 'Ada Lovelace' }],
  ],
  memory: [
    ['recallEpisodes', { user: 'robin', text: 'coffee', k: 20 }],
    ['factsAsOf', { user: 'robin', subject: 'Robin', at: '2025-01-01T00:00:00Z' }],
    ['factsAsOf', { user: 'robin', subject: 'Robin', at: '2026-01-01T00:00:00Z' }],
    ['history', { user: 'robin', subject: 'Robin', predicate: 'lives in' }],
  ],
};

/** Calls of the writing queries that no seed has. */
const writes: Record<string, Call[]> = {
  start: [],
  graphrag: [
    [
      'replaceDocument',
      {
        source: 'new.md',
        title: 'New',
        chunks: [
          { text: 'Ada Lovelace met an engine', position: 0, mentions: ['Ada Lovelace'] },
          { text: 'nothing more', position: 1, mentions: [] },
        ],
      },
    ],
  ],
  memory: [],
};

/** Calls that delete, which run last. */
const deletes: Record<string, Call[]> = {
  start: [],
  graphrag: [['dropDocument', { source: 'new.md' }]],
  memory: [['forgetUser', { user: 'robin' }]],
};

// Chunks of a replaced document have new ids.
const ids = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g;

describe.each(Object.keys(reads))('AG06: the template %s', (template) => {
  it('stores the same after each run of its seed and of every query that writes', async () => {
    await openTemplate(template);
    const seed = readFileSync(join(folder, 'seed.ndjson'), 'utf8').trim().split('\n');
    const called = [
      ...seed.map((line): string => JSON.parse(line).query),
      ...[...writes[template]!, ...deletes[template]!].map(([query]) => query),
    ];
    const writing = program.queries.filter(({ plan }) => plan.writes).map(({ name }) => name);
    expect([...new Set(called)].sort()).toEqual(writing.sort());

    const stored = async () => {
      const answers: string[] = [];
      for (const [query, body] of reads[template]!)
        answers.push(JSON.stringify(await call(query, body)).replaceAll(ids, 'id'));
      return { counts: counts(), answers };
    };
    const write = async (calls: Call[]) => {
      for (const [query, body] of calls) await call(query, body);
      return stored();
    };
    expect(await runSeed(folder, database)).toBe(seed.length);
    const once = await stored();
    expect(Object.values(once.counts)).not.toContain(0);
    await runSeed(folder, database);
    expect(await stored()).toEqual(once);
    const more = await write(writes[template]!);
    expect(await write(writes[template]!)).toEqual(more);
    await runSeed(folder, database);
    expect(await stored()).toEqual(more);
    const deleted = await write(deletes[template]!);
    expect(await write(deletes[template]!)).toEqual(deleted);
  });

  it('takes each line of its seed twice in a row', async () => {
    await openTemplate(template);
    const seed = readFileSync(join(folder, 'seed.ndjson'), 'utf8').trim().split('\n');
    const saved = new Map<string, unknown>();
    for (const line of seed) {
      const { query, body, save = {} } = JSON.parse(line);
      const values = Object.entries(body).map(([name, value]) => [
        name,
        saved.get(`${value}`) ?? value,
      ]);
      const run = () => call(query, Object.fromEntries(values));
      const first = await run();
      const before = counts();
      await run();
      expect(counts(), line).toEqual(before);
      for (const name of Object.keys(save)) saved.set(`$${name}`, first.episode.episodeId);
    }
  });
});

describe('AG06: graphrag', () => {
  const chunk = (text: string, position: number, mentions: string[] = []) => ({
    text,
    position,
    mentions,
  });

  beforeEach(async () => {
    await openTemplate('graphrag');
    const kind = 'person';
    const rows = [
      { name: 'Ada', kind },
      { name: 'Bo', kind },
    ];
    await call('addEntities', { rows });
  });

  it('replaceDocument leaves no chunk of the version before', async () => {
    const replace = (title: string, ...chunks: object[]) =>
      call('replaceDocument', { source: 'a.md', title, chunks });
    await call('replaceDocument', {
      source: 'b.md',
      title: 'B',
      chunks: [chunk('kept', 0, ['Bo'])],
    });
    await replace('Old', chunk('first', 0, ['Ada', 'Ada']), chunk('second', 1), chunk('third', 2));
    expect(counts()).toMatchObject({ Document: 2, Chunk: 4, HasChunk: 4, Mentions: 2 });
    expect(await replace('New', chunk('only', 0, ['Bo']))).toEqual({
      document: { source: 'a.md', title: 'New', chunks: 1 },
    });
    expect(counts()).toMatchObject({ Document: 2, Chunk: 2, HasChunk: 2, Mentions: 2, Entity: 2 });
    const { chunks } = await call('search', { text: 'first second third', k: 10 });
    expect(chunks.map(({ text }: { text: string }) => text).sort()).toEqual(['kept', 'only']);
    expect((await call('aboutEntity', { name: 'Ada' })).entity.chunks).toEqual([]);
    await replace('Empty');
    expect(counts()).toMatchObject({ Document: 2, Chunk: 1, Mentions: 1 });
  });

  it('searchDocuments finds each document once, with its best chunk', async () => {
    for (const [source, word] of [
      ['a.md', 'apples'],
      ['b.md', 'pears'],
    ])
      await call('replaceDocument', {
        source,
        title: word,
        chunks: [chunk('some other fruit', 0), chunk(`fruit ${word}`, 1), chunk('fruit', 2)],
      });
    const found = await call('searchDocuments', { text: 'fruit pears', k: 2 });
    expect(found.documents).toMatchObject([
      { source: 'b.md', chunk: 'fruit pears' },
      { source: 'a.md', chunk: expect.stringContaining('fruit') },
    ]);
    const best = await call('searchDocuments', { text: 'fruit apples', k: 1 });
    expect(best.documents).toMatchObject([{ source: 'a.md', chunk: 'fruit apples' }]);
  });

  it('a replacement that fails changes nothing', async () => {
    const replace = (...chunks: object[]) =>
      call('replaceDocument', { source: 'a.md', title: 'A', chunks });
    await replace(chunk('first', 0, ['Ada']), chunk('second', 1));
    const before = counts();
    await expect(replace(chunk('x', 0), chunk('y', 1, ['Nobody']))).rejects.toMatchObject({
      code: 'NO_VALUE_FOUND',
    });
    expect(counts()).toEqual(before);
    const { chunks } = await call('search', { text: 'first', k: 10 });
    expect(chunks).toHaveLength(2);
  });

  it('addChunk replaces the chunk at its position, with its mentions', async () => {
    await call('addDocument', { source: 'a.md', title: 'A' });
    await call('addDocument', { source: 'b.md', title: 'B' });
    await call('addChunk', { source: 'b.md', ...chunk('other', 0, ['Ada']) });
    await call('addChunk', { source: 'a.md', ...chunk('before', 0, ['Ada']) });
    await call('addChunk', { source: 'a.md', ...chunk('after', 0, ['Bo', 'Bo']) });
    expect(counts()).toMatchObject({ Chunk: 2, HasChunk: 2, Mentions: 2 });
    expect((await call('aboutEntity', { name: 'Bo' })).entity.chunks).toEqual(['after']);
    expect((await call('aboutEntity', { name: 'Ada' })).entity.chunks).toEqual(['other']);
    const none = call('addChunk', { source: 'c.md', ...chunk('x', 0) });
    await expect(none).rejects.toMatchObject({ code: 'NO_VALUE_FOUND' });
  });

  it('two entities are related in several ways, each once', async () => {
    for (const how of ['knows', 'teaches', 'knows'])
      await call('relate', { from: 'Ada', to: 'Bo', how });
    await call('relate', { from: 'Bo', to: 'Ada', how: 'knows' });
    await call('relate', { from: 'Ada', to: 'Ada', how: 'knows' });
    expect(counts()).toMatchObject({ RelatedTo: 4 });
    for (const [from, to] of [
      ['Ada', 'Nobody'],
      ['Nobody', 'Ada'],
    ])
      await expect(call('relate', { from, to, how: 'knows' })).rejects.toMatchObject({
        code: 'NO_VALUE_FOUND',
      });
  });
});

describe('AG06: memory', () => {
  const users = ['ana', 'bo'];
  const since = '2024-01-01T00:00:00Z';
  const [later, at] = ['2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z'];
  const episodes: Record<string, string> = {};

  beforeEach(async () => {
    await openTemplate('memory');
    // Both use the same names of sessions and subjects, and say one sentence that is the same.
    for (const user of users) {
      await call('addSubject', { user, name: 'Kim' });
      await call('addEpisode', { user, session: 's1', text: 'good morning' });
      const said = { user, session: 's1', text: `the secret of ${user}` };
      episodes[user] = (await call('addEpisode', said)).episode.episodeId;
      const fact = { user, subject: 'Kim', predicate: 'is', since, episode: episodes[user] };
      await call('addFact', { ...fact, text: `a fact of ${user}` });
    }
  });

  const facts = async (user: string) =>
    (await call('factsAsOf', { user, subject: 'Kim', at })).facts;

  it('every query takes a user', () => {
    for (const { name, plan } of program.queries)
      expect(plan.parameters.find((one) => one.name === 'user')?.optional, name).toBe(false);
  });

  it('a user sees no memory of another', async () => {
    expect(counts()).toMatchObject({ Episode: 4, Subject: 2, Fact: 2, Holds: 2, Supports: 2 });
    for (const user of [...users, 'nobody']) {
      const other = users.filter((name) => name !== user);
      const is = { user, subject: 'Kim', predicate: 'is' };
      const recalled = await call('recallEpisodes', { user, text: 'the secret of ana, bo', k: 10 });
      const history = await call('history', is);
      const text = JSON.stringify([recalled, history, await facts(user)]);
      for (const name of other) expect(text).not.toMatch(new RegExp(`(of|user":") ?${name}`));
      expect(recalled.episodes).toHaveLength(user === 'nobody' ? 0 : 2);
      expect(history.facts).toHaveLength(user === 'nobody' ? 0 : 1);
    }
    expect(await facts('ana')).toMatchObject([{ learntFrom: ['the secret of ana'] }]);
    const fewest = await call('recallEpisodes', { user: 'bo', text: 'the secret of ana', k: 1 });
    expect(fewest.episodes).toMatchObject([{ user: 'bo' }]);
  });

  it('a user changes no memory of another', async () => {
    const before = await facts('bo');
    const { facts: closed } = await call('closeFacts', {
      user: 'ana',
      subject: 'Kim',
      predicate: 'is',
      at: later,
    });
    expect(closed).toHaveLength(1);
    expect([await facts('ana'), await facts('bo')]).toEqual([[], before]);
    expect(await call('forgetUser', { user: 'ana' })).toEqual({
      episodes: 2,
      facts: 1,
      subjects: 1,
    });
    expect(counts()).toMatchObject({ Episode: 2, Subject: 1, Fact: 1, Holds: 1, Supports: 1 });
    expect(await facts('bo')).toEqual(before);
  });

  it('a fact cannot name an episode of another user', async () => {
    const before = counts();
    const taken = {
      user: 'bo',
      subject: 'Kim',
      predicate: 'is',
      text: 'stolen',
      since,
      episode: episodes.ana,
    };
    await expect(call('addFact', taken)).rejects.toMatchObject({ code: 'NO_VALUE_FOUND' });
    expect(counts()).toEqual(before);
  });

  it('a fact that is closed stays closed, and a fact that begins then stays open', async () => {
    const fact = { user: 'ana', subject: 'Kim', predicate: 'is', episode: episodes.ana };
    const close = { user: 'ana', subject: 'Kim', predicate: 'is', at: later };
    for (let run = 0; run < 2; run++) {
      await call('addFact', { ...fact, text: 'a fact of ana', since });
      await call('closeFacts', close);
      await call('addFact', { ...fact, text: 'another', since: later });
      const { facts } = await call('history', fact);
      expect(facts.map((one) => [one.text, one.valid_to === null])).toEqual([
        ['a fact of ana', false],
        ['another', true],
      ]);
    }
  });
});
