// Texts that an embedding provider refuses: each is a refused row, whichever of a call's texts it is and
// whatever the provider does with the others; a provider that takes none ends the load.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedServer, built, openEmbedded } from '../support/server/embedded-server.js';

const { LoadFeed, TrellisError } =
  await built<typeof import('../../engine/internal.js')>('engine/internal.js');

const source = `
V::Note { text: String }
QUERY notes() => n <- V<Note>::{ text } RETURN n
QUERY clear() => DROP V<Note> RETURN "ok"
`;

let opened: EmbeddedServer;
/** What is answered for a text; a vector where nothing is. */
let refusal: (text: string) => Error | undefined;
let calls = 0;

beforeAll(async () => {
  const embed = (_model: string | undefined, texts: readonly string[]): Promise<Float64Array[]> => {
    calls++;
    const error = texts.map((text) => refusal(text)).find((one) => one !== undefined);
    return error
      ? Promise.reject(error)
      : Promise.resolve(texts.map((text) => Float64Array.of(text.length, 1)));
  };
  opened = await openEmbedded({ sources: { 'main.hx': source } }, undefined, {
    embedder: { embed },
    embeddingModel: 'openai:x',
  });
});
afterAll(() => opened.dispose());

const failed = (status: number) =>
  new TrellisError({
    code: 'EMBEDDING_FAILED',
    args: { provider: 'openai', status, detail: 'too long' },
  });

const textOf = (i: number): string => `text ${i}`;

async function load(count: number) {
  await opened.db.call('clear');
  calls = 0;
  const rows = Array.from({ length: count }, (_, i) =>
    JSON.stringify({ vector: 'Note', embed: textOf(i), properties: { text: textOf(i) } }),
  );
  const run = opened.db.database.load();
  const rejects: { line: number; code: string }[] = [];
  const feed = new LoadFeed(run, {
    onRejects: (some) =>
      rejects.push(...some.map(({ line, error }) => ({ line, code: error.code }))),
  });
  try {
    await feed.write(Buffer.from(rows.map((row) => `${row}\n`).join('')));
    await feed.end();
    await run.finish();
  } catch (error) {
    await run.close();
    throw error;
  }
  const { n } = await opened.db.call<{ n: { text: string }[] }>('notes');
  return { rejects, there: n.map(({ text }) => text) };
}

describe('a text that is refused', () => {
  const bad: [string, number, number[]][] = [
    ['the first of 100', 100, [0]],
    ['one in the middle', 100, [57]],
    ['the last', 100, [99]],
    ['several in two calls', 600, [0, 1, 255, 256, 511, 599]],
    ['a half of them', 40, Array.from({ length: 20 }, (_, i) => 2 * i)],
    ['the only one', 1, [0]],
    ['all of a few', 5, [0, 1, 2, 3, 4]],
  ];
  it.each(bad)('is a refused row: %s', async (_, count, which) => {
    for (const status of [200, 400, 413, 422]) {
      refusal = (text) => (which.map(textOf).includes(text) ? failed(status) : undefined);
      const { rejects, there } = await load(count);
      expect(rejects).toEqual(which.map((i) => ({ line: i + 1, code: 'EMBEDDING_FAILED' })));
      const good = Array.from({ length: count }, (_, i) => i).filter((i) => !which.includes(i));
      expect(there.sort()).toEqual(good.map(textOf).sort());
    }
  });

  it('costs few calls', async () => {
    refusal = (text) => (text === textOf(57) ? failed(400) : undefined);
    await load(256);
    expect(calls).toBeLessThan(20);
  });

  it('ends the load where none is taken, or the provider refuses the caller', async () => {
    refusal = () => failed(400);
    await expect(load(100)).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
    for (const status of [401, 403, 404]) {
      refusal = (text) => (text === textOf(3) ? failed(status) : undefined);
      await expect(load(100)).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
    }
    const args = { provider: 'openai', detail: '503' };
    refusal = (text) =>
      text === textOf(3) ? new TrellisError({ code: 'EMBEDDING_UNAVAILABLE', args }) : undefined;
    await expect(load(100)).rejects.toMatchObject({ code: 'EMBEDDING_UNAVAILABLE' });
  });
});
