// The model of a vector type is stored with it: EM08 (another model is refused until the vectors are made again, or
// kept), EM09 (an emptied type has no dimension) and EM10 (one refused text ends no import).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Embedder } from '../../engine/embed/embedder.js';
import { type EmbeddedServer, built, openEmbedded } from '../support/server/embedded-server.js';
import { makeFolder, removeFolder } from '../support/project.js';

const { LoadFeed, TrellisError } =
  await built<typeof import('../../engine/internal.js')>('engine/internal.js');

const source = `
V::Note { text: String, no: I64 }
QUERY add(t: String, no: I64) => v <- AddV<Note>(Embed(t), { text: t, no: no }) RETURN v::{no}
QUERY addVector(v: [F64], t: String, no: I64) =>
  n <- AddV<Note>(v, { text: t, no: no })
  RETURN n::{no}
QUERY search(t: String) => v <- SearchV<Note>(Embed(t), 1) RETURN v::{no}
QUERY near(v: [F64]) => n <- SearchV<Note>(v, 1) RETURN n::{no, data}
QUERY change(no: I64, t: String) =>
  n <- V<Note>::WHERE(_::{no}::EQ(no))::UPDATE({ text: t })
  RETURN n::{no}
#[model("openai:a")] QUERY own(t: String) => v <- SearchV<Note>(Embed(t), 1) RETURN v::{no}
QUERY all() => n <- V<Note>::{ no, data } RETURN n
QUERY clear() => DROP V<Note> RETURN "ok"
`;
const sources = { 'main.hx': source };

/** Vectors that depend on the model: the length of the text in the dimension of its last letter. */
const vectorOf = (model: string, text: string): Float64Array => {
  const vector = new Float64Array(model.endsWith('b') ? 4 : 3).fill(0.01);
  vector[model.endsWith('c') ? 1 : 0] = 1;
  vector[2] = text.length / 100;
  return vector;
};
let refused: (text: string) => boolean = () => false;
let seen: string[] = [];
const embedder: Embedder = {
  embed: async (model, texts) => {
    seen.push(...texts);
    const bad = texts.find(refused);
    if (bad !== undefined) {
      const args = { which: `"${bad}"`, provider: 'openai', status: 400, detail: 'unsafe' };
      throw new TrellisError({ code: 'EMBEDDING_REFUSED', args });
    }
    return texts.map((text) => vectorOf(model!, text));
  },
};

const openWith = (folder: string, embeddingModel: string | undefined, lines: string[] = []) =>
  openEmbedded({ sources }, folder, {
    embedder,
    embeddingModel,
    log: (level, message, fields) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
  });
const textOf = (no: number): string => 'x'.repeat(no + 1);

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof TrellisError) return error.code;
    throw error;
  }
}

describe('EM08 another model', () => {
  const folder = makeFolder();
  let opened: EmbeddedServer;
  const reopen = async (model: string | undefined, lines?: string[]): Promise<void> => {
    await opened?.db.close();
    opened = await openWith(folder, model, lines);
  };
  const call = <T>(name: string, args: Record<string, unknown> = {}) =>
    opened.db.call<T>(name, args);
  afterAll(async () => {
    await opened.db.close();
    removeFolder(folder);
  });

  it('is refused for texts, and not for vectors', async () => {
    await reopen('openai:a');
    for (let no = 0; no < 40; no++) await call('add', { t: textOf(no), no });
    expect(await call('search', { t: textOf(7) })).toEqual({ v: [{ no: 7 }] });
    await reopen('openai:c');
    expect(await codeOf(call('search', { t: 'x' }))).toBe('EMBEDDING_MODEL_CHANGED');
    expect(await codeOf(call('add', { t: 'x', no: 99 }))).toBe('EMBEDDING_MODEL_CHANGED');
    const near = await call('near', { v: [...vectorOf('openai:a', textOf(7))] });
    expect(near).toMatchObject({ n: [{ no: 7 }] });
    expect(await call('own', { t: textOf(9) })).toEqual({ v: [{ no: 9 }] });
  });

  it('the error says both models, and what to do', async () => {
    const error = await call('search', { t: 'x' }).catch((one: Error) => one);
    expect(error).toMatchObject({ code: 'EMBEDDING_MODEL_CHANGED', status: 409 });
    expect((error as InstanceType<typeof TrellisError>).message).toBe(
      'The vectors of Note are of openai:a, but openai:c is configured.',
    );
    expect((error as InstanceType<typeof TrellisError>).hint).toMatch(
      /trellis reembed Note --from/,
    );
  });

  it('`keep` says that both agree', async () => {
    expect(await opened.db.database.reembeds.keep('Note')).toEqual({ model: 'openai:c' });
    expect(await codeOf(call('search', { t: 'x' }))).toBe('done');
    await reopen('openai:a');
    expect(await codeOf(call('search', { t: 'x' }))).toBe('EMBEDDING_MODEL_CHANGED');
    await opened.db.database.reembeds.keep('Note');
    expect(await codeOf(call('search', { t: 'x' }))).toBe('done');
  });

  it('the vectors are made again with other dimensions, and all searches use them', async () => {
    await reopen('openai:b');
    const { reembeds } = opened.db.database;
    await reembeds.start('Note', 'text').finished;
    expect(reembeds.statusOf('Note')).toEqual({
      ...{ type: 'Note', from: 'text', state: 'done', done: 40, total: 40 },
    });
    for (const no of [0, 7, 39]) {
      expect(await call('search', { t: textOf(no) })).toEqual({ v: [{ no }] });
      const v = [...vectorOf('openai:b', textOf(no))];
      expect(await call('near', { v })).toEqual({ n: [{ no, data: v }] });
    }
    expect(await codeOf(call('near', { v: [1, 2, 3] }))).toBe('VECTOR_DIMENSION');
    await call('add', { t: textOf(40), no: 40 });
    // From the log and from a snapshot, the next starts have the same.
    for (const _ of [1, 2]) {
      await reopen('openai:b');
      expect(await call('search', { t: textOf(40) })).toEqual({ v: [{ no: 40 }] });
      expect(await call('search', { t: textOf(7) })).toEqual({ v: [{ no: 7 }] });
    }
  });

  it('of the same dimension, no snapshot of before comes back', async () => {
    await reopen('openai:a');
    await opened.db.database.reembeds.start('Note', 'text').finished;
    await opened.db.snapshot();
    await reopen('openai:c');
    await opened.db.database.reembeds.start('Note', 'text').finished;
    await opened.db.database.close({ snapshot: false });
    opened = await openWith(folder, 'openai:c');
    const v = [...vectorOf('openai:c', textOf(7))];
    expect(await call('near', { v })).toEqual({ n: [{ no: 7, data: v }] });
    const { n } = await call<{ n: { no: number; data: number[] }[] }>('all');
    for (const { no, data } of n) expect(data).toEqual([...vectorOf('openai:c', textOf(no))]);
  });

  it('texts that change or come while the job runs are made again, too', async () => {
    await reopen('openai:c');
    await opened.db.database.reembeds.keep('Note');
    const { finished } = opened.db.database.reembeds.start('Note', 'text');
    await call('change', { no: 3, t: 'y'.repeat(60) });
    await call('add', { t: textOf(41), no: 41 });
    await finished;
    const { n } = await call<{ n: { no: number; data: number[] }[] }>('all');
    const dataOf = (no: number) => n.find((one) => one.no === no)!.data;
    expect(dataOf(3)).toEqual([...vectorOf('openai:c', 'y'.repeat(60))]);
    expect(dataOf(41)).toEqual([...vectorOf('openai:c', textOf(41))]);
  });

  it('while a text is refused or missing, the old vectors stay, and a later job embeds the rest', async () => {
    await reopen('openai:a');
    const { reembeds } = opened.db.database;
    refused = (text) => text === textOf(5);
    await reembeds.start('Note', 'text').finished;
    refused = () => false;
    expect(reembeds.statusOf('Note')).toMatchObject({
      state: 'failed',
      error: { code: 'EMBEDDING_REFUSED', args: { which: expect.stringContaining(textOf(5)) } },
    });
    expect(await codeOf(call('search', { t: 'x' }))).toBe('EMBEDDING_MODEL_CHANGED');
    seen = [];
    await reembeds.start('Note', 'text').finished;
    expect(reembeds.statusOf('Note')!.state).toBe('done');
    expect(seen).toEqual([textOf(5)]);
    expect(await codeOf(reembeds.start('Note', 'no').finished)).toBe('done');
    expect(reembeds.statusOf('Note')!.error?.code).toBe('CONFIG_INVALID');
    await reembeds.start('Note', 'absent').finished;
    expect(reembeds.statusOf('Note')!.error?.code).toBe('UNKNOWN_PROPERTY');
  });

  it('vectors of an unknown model are taken as those of the first start, in one line', async () => {
    const other = makeFolder();
    const first = await openWith(other, undefined);
    await first.db.call('addVector', { v: [1, 0, 0], t: 'x', no: 1 });
    await first.db.close();
    const lines: string[] = [];
    const second = await openWith(other, 'openai:a', lines);
    await expect.poll(() => lines.filter((line) => line.includes('is recorded'))).toHaveLength(1);
    expect(lines.join('\n')).toContain('"type":"Note","model":"openai:a"');
    await second.db.close();
    const third = await openWith(other, 'openai:c');
    expect(await codeOf(third.db.call('search', { t: 'x' }))).toBe('EMBEDDING_MODEL_CHANGED');
    await third.db.close();
    removeFolder(other);
  });
});

describe('EM09 a type without vectors', () => {
  let opened: EmbeddedServer;
  beforeAll(async () => {
    opened = await openWith(makeFolder(), 'openai:a');
  });
  afterAll(() => opened.dispose());

  it('takes vectors of another dimension and of another model', async () => {
    const { db, folder } = opened;
    for (const dimension of [3, 5, 2, 3]) {
      for (let no = 0; no < 150; no++) {
        const v = Array.from({ length: dimension }, (_, i) => Math.sin(no + i));
        await db.call('addVector', { v, t: 'x', no });
      }
      const v = Array.from({ length: dimension }, (_, i) => Math.sin(77 + i));
      expect(await db.call('near', { v })).toEqual({ n: [{ no: 77, data: v }] });
      await db.call('clear');
      expect(await db.call('near', { v: [1, 2, 3, 4, 5, 6] })).toEqual({ n: [] });
    }
    await db.close();
    opened = await openWith(folder, 'openai:b');
    await opened.db.call('add', { t: 'xx', no: 1 });
    expect(await opened.db.call('search', { t: 'xx' })).toEqual({ v: [{ no: 1 }] });
  });
});

describe('EM10 an import', () => {
  it('of 100 rows with one refused text loads 99 and names one', async () => {
    const opened = await openWith(makeFolder(), 'openai:a');
    refused = (text) => text === textOf(57);
    const rows = Array.from({ length: 100 }, (_, no) =>
      JSON.stringify({ vector: 'Note', embed: textOf(no), properties: { text: textOf(no), no } }),
    );
    const load = opened.db.database.load();
    const rejects: [number, string, unknown][] = [];
    const feed = new LoadFeed(load, {
      onRejects: (some) =>
        rejects.push(
          ...some.map(({ line, error }): [number, string, unknown] => [
            ...([line, error.code, error.args.detail] as const),
          ]),
        ),
    });
    await feed.write(Buffer.from(rows.map((row) => `${row}\n`).join('')));
    await feed.end();
    await load.finish();
    refused = () => false;
    expect(rejects).toEqual([[58, 'EMBEDDING_REFUSED', 'unsafe']]);
    const { n } = await opened.db.call<{ n: unknown[] }>('all');
    expect(n).toHaveLength(99);
    await opened.dispose();
  });
});
