// The handler: turns on one session, what a failure leaves behind, reading to the end, limits,
// keys, reload.
import { describe, expect, test } from 'vitest';
import { emptySchema } from '../../engine/base/schema.js';
import { Bench, denseOf, librarySchema, namesIn, noKey } from './library.js';
import { emptyProgram } from './memory-database.js';

const hour = 3_600_000;

async function withAuthors(bench: Bench): Promise<string> {
  const C = await bench.open();
  await bench.ok('n_from_type', { connection_id: C, data: { node_type: 'Author' } });
  return C;
}

describe('calls on one session', () => {
  test('20 parallel `next` return 20 items, each one time, in order', async () => {
    const bench = new Bench();
    for (let i = 0; i < 17; i++) bench.database.addNode('Author', { name: `n${i}` });
    const C = await withAuthors(bench);
    const all = (await bench.ok('collect', { connection_id: C, drop: false })) as { id: string }[];
    bench.database.held = Promise.resolve();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => bench.ok('next', { connection_id: C })),
    );
    expect(replies).toEqual(all);
  });

  test('32 calls wait for a slow one, the next is refused', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    let release = () => {};
    bench.database.held = new Promise<void>((resolve) => (release = resolve));
    const calls = Array.from({ length: 33 }, () => bench.post('next', { connection_id: C }));
    expect(await bench.post('next', { connection_id: C })).toEqual({ code: 'SESSION_BUSY' });
    const other = await withAuthorsFromHeld(bench);
    release();
    const replies = await Promise.all(calls);
    expect(replies.every((reply) => 'ok' in reply)).toBe(true);
    expect(namesIn(replies.slice(0, 4).map((reply) => (reply as { ok: unknown }).ok))).toEqual([
      'A1',
      'A2',
      'A3',
      null,
    ]);
    expect(other).toBe(true);
  });

  /** Another session is opened and used while the first one is busy. */
  async function withAuthorsFromHeld(bench: Bench): Promise<boolean> {
    const D = await bench.open();
    return (await bench.ok('next', { connection_id: D })) === null;
  }

  test('a failing call lets the next one in', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    bench.database.held = Promise.resolve();
    const replies = await Promise.all([
      bench.post('collect', { connection_id: C, drop: false }),
      bench.post('n_from_type', { connection_id: C, data: { node_type: 'Athor' } }),
      bench.post('search_vector', { connection_id: C, data: { vector: [1, 0, 0], k: 1 } }),
      bench.post('next', { connection_id: C }),
    ]);
    expect(replies.map((reply) => ('code' in reply ? reply.code : 'ok'))).toEqual([
      'ok',
      'UNKNOWN_TYPE',
      'ok',
      'ok',
    ]);
  });

  test('a waiting call whose client has disconnected is dropped, a started one completes', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    let release = () => {};
    bench.database.held = new Promise<void>((resolve) => (release = resolve));
    const cancels: (() => void)[] = [];
    const call = () =>
      Promise.resolve(
        bench.handler.handle(
          'next',
          Buffer.from(`{"connection_id":"${C}"}`),
          noKey,
          1000,
          (cancel) => cancels.push(cancel),
        ),
      ).then(
        () => 'answered',
        () => 'dropped',
      );
    const calls = [call(), call(), call()];
    expect(cancels.length).toBe(2);
    cancels[0]!();
    cancels[0]!();
    release();
    expect(await Promise.all(calls)).toEqual(['answered', 'dropped', 'answered']);
    cancels[1]!();
    expect(namesIn(await bench.ok('next', { connection_id: C }))).toBe('A3');
  });

  test('the time budget starts with the call, not with its waiting', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    let release = () => {};
    bench.database.held = new Promise<void>((resolve) => (release = resolve));
    const calls = [
      bench.post('next', { connection_id: C }),
      bench.post('next', { connection_id: C }),
    ];
    bench.clock += 20_000;
    release();
    await Promise.all(calls);
    expect(bench.database.budgets.slice(-2)).toEqual([30_000, 30_000]);
  });
});

describe('a failing call leaves the session as it was', () => {
  test('after any error', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    await bench.ok('next', { connection_id: C });
    const run = bench.database.run;
    for (const fault of ['thrown', 'rejected']) {
      bench.database.run = () => {
        const error = new RangeError('a defect');
        if (fault === 'thrown') throw error;
        return Promise.reject(error);
      };
      for (const [tool, more] of [
        ['n_from_type', { data: { node_type: 'Book' } }],
        ['collect', {}],
        ['next', {}],
        ['group_by', { properties: ['name'], drop: true }],
        ['search_vector', { data: { vector: [1, 0], k: 1 } }],
      ] as const)
        await expect(bench.post(tool, { connection_id: C, ...more })).rejects.toThrow('a defect');
      bench.database.run = run;
      const kept = await bench.ok('collect', { connection_id: C, drop: false });
      expect(namesIn(kept)).toEqual(['A1', 'A2', 'A3']);
    }
    expect(namesIn(await bench.ok('next', { connection_id: C }))).toBe('A2');
  });

  test('too large an answer is not dropped', async () => {
    const bench = new Bench({ result_items: 2 });
    const C = await withAuthors(bench);
    expect(await bench.post('collect', { connection_id: C })).toEqual({ code: 'RESULT_TOO_LARGE' });
    const part = await bench.ok('collect', { connection_id: C, range: { start: 1 } });
    expect(namesIn(part)).toEqual(['A2', 'A3']);
  });

  test('too many items are not kept', async () => {
    const bench = new Bench({ session_items: 3 });
    const C = await withAuthors(bench);
    const call = { connection_id: C, data: { edge_label: 'Wrote' } };
    expect(await bench.post('out_step', call)).toEqual({ code: 'RESULT_TOO_LARGE' });
    expect(namesIn(await bench.ok('next', { connection_id: C }))).toBe('A1');
  });
});

describe('next', () => {
  test('skips deleted items, and reads each item at most a few times in total', async () => {
    const bench = new Bench();
    const ids = Array.from({ length: 3000 }, (_, i) =>
      bench.database.addNode('Book', { title: `t${i}`, year: i, tags: [] }),
    );
    const C = await bench.open();
    await bench.ok('n_from_type', { connection_id: C, data: { node_type: 'Book' } });
    const kept = ids.filter((_, i) => i % 1000 === 999 || i < 3);
    const gone = new Set(ids.filter((id) => !kept.includes(id)));
    for (const id of gone) bench.database.view.records.delete(id);
    bench.database.view.reads.record = 0;
    const years: number[] = [];
    for (;;) {
      const item = (await bench.ok('next', { connection_id: C })) as { year: number } | null;
      if (item === null) break;
      years.push(item.year);
    }
    expect(years).toEqual([1843, 1999, 2001, 0, 1, 2, 999, 1999, 2999]);
    expect(bench.database.view.reads.record).toBeLessThan(4 * 3003);
    expect(await bench.ok('next', { connection_id: C })).toBeNull();
  });

  test('the same element twice is two items', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    await bench.ok('out_step', { connection_id: C, data: { edge_label: 'Wrote' } });
    bench.database.remove(denseOf('B1'));
    const seen: unknown[] = [];
    for (let i = 0; i < 4; i++) seen.push(namesIn(await bench.ok('next', { connection_id: C })));
    expect(seen).toEqual(['B2', 'B2', 'B3', null]);
  });

  test('keeps scores of hits', async () => {
    const bench = new Bench();
    const C = await bench.open();
    await bench.ok('search_vector', { connection_id: C, data: { vector: [1, 0], k: 3 } });
    bench.database.remove(denseOf('P1'));
    const hit = (await bench.ok('next', { connection_id: C })) as { score: number };
    expect([namesIn(hit), hit.score]).toEqual(['P2', 0.6]);
  });
});

describe('text search', () => {
  test('embeds before it runs, with what is left of the time', async () => {
    const bench = new Bench();
    bench.database.model = (text) => {
      bench.clock += 1000;
      return Float64Array.of(text.length, 0);
    };
    const C = await withAuthors(bench);
    const call = { connection_id: C, data: { query: 'rivers', label: 'Passage', k: 2 } };
    expect(namesIn(await bench.ok('search_vector_text', call))).toEqual(['P1', 'P2']);
    expect(bench.database.budgets.at(-1)).toBe(29_000);
    expect(namesIn(await bench.ok('next', { connection_id: C }))).toBe('P1');
  });

  test('an error of a provider changes nothing', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    const call = { connection_id: C, data: { query: 'rivers', label: 'Passage' } };
    expect(await bench.post('search_vector_text', call)).toEqual({
      code: 'EMBEDDING_NOT_CONFIGURED',
    });
    expect(namesIn(await bench.ok('next', { connection_id: C }))).toBe('A1');
  });
});

describe('keys', () => {
  const ann = { keyId: 'ann', mayRead: true, mayWrite: false };
  const bob = { keyId: 'bob', mayRead: true, mayWrite: false };

  test('a session is its key’s alone, and ends with it', async () => {
    const bench = new Bench();
    const C = await bench.open(ann);
    for (const other of [bob, noKey])
      expect(await bench.post('next', { connection_id: C }, other)).toMatchObject({
        code: 'CONNECTION_NOT_FOUND',
      });
    bench.handler.dropKey('bob');
    expect(await bench.ok('next', { connection_id: C }, ann)).toBeNull();
    bench.handler.dropKey('ann');
    expect(await bench.post('next', { connection_id: C }, ann)).toMatchObject({
      code: 'CONNECTION_NOT_FOUND',
    });
  });

  test('calls that wait when the key is dropped find no session', async () => {
    const bench = new Bench();
    const C = await bench.open(ann);
    await bench.ok('n_from_type', { connection_id: C, data: { node_type: 'Author' } }, ann);
    bench.database.held = Promise.resolve();
    const calls = [1, 2, 3].map(() => bench.post('next', { connection_id: C }, ann));
    bench.handler.dropKey('ann');
    const [first, ...rest] = await Promise.all(calls);
    expect('ok' in first!).toBe(true);
    for (const reply of rest) expect(reply).toMatchObject({ code: 'CONNECTION_NOT_FOUND' });
    expect(bench.metric('session_bytes')).toBe(0);
  });

  test('a key that may not read gets nothing', async () => {
    const bench = new Bench();
    const metricsOnly = { keyId: 'm', mayRead: false, mayWrite: false };
    for (const tool of ['init', 'next', 'tool_call'])
      expect(await bench.post(tool, {}, metricsOnly)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await bench.post('nope', {}, metricsOnly)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('settings', () => {
  test('switched off', async () => {
    const bench = new Bench({}, { enabled: false });
    expect(await bench.post('init', {})).toMatchObject({ code: 'FEATURE_DISABLED' });
  });

  test('keyword search switched off', async () => {
    const bench = new Bench({}, { textEnabled: false });
    const data = { query: 'x', label: 'Book', limit: 1 };
    const answer = await bench.post('search_keyword', { connection_id: await bench.open(), data });
    expect(answer).toMatchObject({ code: 'FEATURE_DISABLED' });
  });

  test.each([
    [{ compat: true }, 'string'],
    [{ schemaFormat: 'string' as const }, 'string'],
    [{}, 'object'],
  ])('form of schema_resource under %j', async (options, form) => {
    const bench = new Bench({}, options);
    const C = await bench.open();
    expect(typeof (await bench.ok('schema_resource', { connection_id: C }))).toBe(form);
    const format = form === 'string' ? 'object' : 'string';
    expect(typeof (await bench.ok('schema_resource', { connection_id: C, format }))).toBe(format);
  });

  test('expiry, sweeping and numbers', async () => {
    const bench = new Bench();
    const C = await withAuthors(bench);
    expect(bench.metric('session_bytes')).toBe(1024 + 12);
    bench.clock = hour - 1;
    bench.handler.sweep(bench.clock);
    expect(bench.metric('sessions')).toBe(1);
    bench.clock = hour;
    bench.handler.sweep(bench.clock);
    expect(bench.handler.metrics()).toEqual([
      { name: 'sessions', value: 0 },
      { name: 'session_bytes', value: 0 },
      { name: 'sessions_created_total', value: 1 },
      { name: 'sessions_expired_total', value: 1 },
      { name: 'sessions_evicted_total', value: 0 },
    ]);
    expect(await bench.post('next', { connection_id: C })).toMatchObject({
      code: 'CONNECTION_NOT_FOUND',
    });
  });
});

test('a reload changes what names mean, not the sessions', async () => {
  const bench = new Bench();
  const C = await withAuthors(bench);
  bench.database.program = { ...emptyProgram, schema: emptySchema };
  const call = { connection_id: C, data: { node_type: 'Author' } };
  expect(await bench.post('n_from_type', call)).toMatchObject({
    code: 'UNKNOWN_TYPE',
    hint: 'The schema has no node types.',
  });
  bench.database.program = { ...emptyProgram, schema: librarySchema };
  expect(namesIn(await bench.ok('next', { connection_id: C }))).toBe('A1');
});

test('ten thousand blank sessions are open at the same time, and no more', async () => {
  const bench = new Bench();
  for (let i = 0; i < 10_000; i++) await bench.open();
  expect(bench.metric('sessions')).toBe(10_000);
  expect(bench.metric('session_bytes')).toBeLessThanOrEqual(10_000 * 2048);
  expect(await bench.post('init', {})).toMatchObject({ code: 'TOO_MANY_SESSIONS' });
});
