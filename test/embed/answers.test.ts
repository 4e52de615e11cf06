// Long responses of providers, and many simultaneous calls. The request limits the size of a response,
// another thread reads a long one, and at most 64 calls run at a time, for all callers together.
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { AnswerSize } from '../../engine/embed/answer-size.js';
import { CallSlots } from '../../engine/embed/call-slots.js';
import { createEmbedder } from '../../engine/embed/create-embedder.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

/** Responds to all requests when and as the test says. */
let answer: (texts: string[], response: ServerResponse) => void;
let open = 0;
let mostOpen = 0;
let server: Server;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    mostOpen = Math.max(mostOpen, ++open);
    response.once('close', () => open--);
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string | string[] };
    answer([input].flat(), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
afterEach(() => vi.restoreAllMocks());

const embedder = (timeoutMs = 60_000) =>
  createEmbedder({
    environment: {
      OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OPENAI_API_KEY: 'a-credential',
    },
    timeoutMs,
    retries: 0,
    cacheEntries: 0,
    allowPrivate: true,
    concurrency: 64,
  });
const soon = (): number => performance.now() + 60_000;

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return `${error.code} ${error.data.args.detail ?? ''}`.trim();
  }
}

/** The longest text that this thread takes apart while `work` is done. */
async function longestParsed(work: () => Promise<unknown>): Promise<number> {
  const parse = vi.spyOn(JSON, 'parse');
  await work();
  const longest = Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length));
  parse.mockRestore();
  return longest;
}

const vectorOf = (dimensions: number, seed: number): number[] =>
  Array.from({ length: dimensions }, (_, i) => Math.fround(Math.sin(i + seed)));

const answerOf = (vectors: number[][]): string =>
  JSON.stringify({ data: vectors.map((embedding, index) => ({ index, embedding })) });

describe('a long answer', () => {
  it('is read by another thread, and means the same', async () => {
    const texts = Array.from({ length: 64 }, (_, i) => `text ${i}`);
    const vectors = texts.map((_, i) => vectorOf(3072, i));
    const body = answerOf(vectors);
    expect(body.length).toBeGreaterThan(2_000_000);
    answer = (_, response) => response.end(body);
    let got: Float64Array[] = [];
    const parsed = await longestParsed(async () => {
      got = await embedder().embed('m', texts, soon());
    });
    expect(parsed).toBeLessThan(300_000);
    expect(got.map((one) => [...one])).toEqual(vectors);
  });

  it.each([
    ['that is no JSON', `{"data":[${'1,'.repeat(500_000)}`, 'the answer is not JSON'],
    [
      'without vectors',
      `{"data":[],"x":[${'1,'.repeat(500_000)}1]}`,
      'the answer holds 0 vectors for 1 texts',
    ],
    [
      'of nothing but brackets',
      `${'['.repeat(400_000)}${']'.repeat(400_000)}`,
      'the answer holds 0 vectors for 1 texts',
    ],
    [
      'of numbers that are too large',
      `{"data":[{"embedding":[${'1e99,'.repeat(60_000)}1]}]}`,
      'the answer holds no usable vector',
    ],
  ])('%s is refused in words', async (_, body, detail) => {
    answer = (_texts, response) => response.end(body);
    expect(await codeOf(embedder().embed('m', ['a'], soon()))).toBe(`EMBEDDING_FAILED ${detail}`);
  });

  it('that takes more memory than any may ends nothing else', async () => {
    const texts = Array.from({ length: long ? 256 : 64 }, (_, i) => `text ${i}`);
    const hungry = `{"data":[${'{},'.repeat(long ? 20_000_000 : 200_000)}{}]}`;
    answer = (_, response) => response.end(hungry);
    expect(await codeOf(embedder().embed('m', texts, soon()))).toMatch(
      /^EMBEDDING_FAILED the answer/,
    );
    answer = (_, response) => response.end(answerOf(texts.map((_, i) => vectorOf(1000, i))));
    expect(await embedder().embed('m', texts, soon())).toHaveLength(texts.length);
  });
});

describe('the size of a response is limited by the request', () => {
  const padded = (bytes: number): string => answerOf([[1, 2, 3]]).padEnd(bytes);

  it.each([
    ['62 MB for one text', 62 * 2 ** 20],
    ['3 MB for one text', 3 * 2 ** 20],
  ])('%s is too long', async (_, bytes) => {
    answer = (_texts, response) => response.end(padded(bytes));
    const failed = 'EMBEDDING_FAILED the answer is too long';
    expect(await codeOf(embedder().embed('m', ['a'], soon()))).toBe(failed);
  });

  it('and follows the model, which may be replaced by another one', async () => {
    const one = embedder();
    const asked = (text: string) => codeOf(one.embed('m', [text], soon()));
    answer = (_, response) => response.end(padded(500_000));
    expect(await asked('a')).toBe('done');
    expect(await asked('b'), 'of 3 numbers').toBe('EMBEDDING_FAILED the answer is too long');
    expect(await asked('c'), 'nothing is known any more').toBe('done');
  });

  it('by a table', () => {
    const sizes = new AnswerSize();
    const most = 64 * 2 ** 20;
    expect(sizes.bound('m', 1)).toBeLessThan(3 * 2 ** 20);
    expect(sizes.bound('m', 256)).toBe(most);
    sizes.learn('m', 1536);
    expect(sizes.bound('m', 256)).toBeLessThan(most);
    // All digits, with each number on a separate line.
    expect(sizes.bound('m', 256)).toBeGreaterThan(256 * 1536 * 40);
    expect(sizes.bound('other', 256)).toBe(most);
    sizes.forget('m');
    expect(sizes.bound('m', 256)).toBe(most);
  });

  it('what a provider says is wrong is not read to its end', async () => {
    answer = (_, response) => {
      response.statusCode = 400;
      response.end(JSON.stringify({ error: { message: 'x'.repeat(30 * 2 ** 20) } }));
    };
    let told = '';
    const parsed = await longestParsed(async () => {
      told = await codeOf(embedder().embed('m', ['a'], soon()));
    });
    expect(parsed).toBeLessThan(100_000);
    expect(told.length).toBeLessThan(300);
  });
});

describe('simultaneous calls', () => {
  it('are at most 64, and all get a response', async () => {
    const waiting: (() => void)[] = [];
    answer = (_, response) => void waiting.push(() => response.end(answerOf([[1, 2, 3]])));
    mostOpen = 0;
    const embedders = [embedder(), embedder()];
    const calls = Array.from({ length: 150 }, (_, i) =>
      embedders[i % 2]!.embed('m', [`text ${i}`], soon()),
    );
    await expect.poll(() => waiting.length, { interval: 5 }).toBe(64);
    const answered = Promise.all(calls);
    // Each response allows one more call.
    for (let done = 0; done < 150; done++) {
      await expect.poll(() => waiting.length, { interval: 1 }).toBeGreaterThan(0);
      waiting.shift()!();
    }
    expect(await answered).toHaveLength(150);
    expect(mostOpen).toBeLessThanOrEqual(64);
  });

  it('wait no longer than they have time, and in a queue that has an end', async () => {
    const slots = new CallSlots(1, 2);
    let end: () => void = () => undefined;
    const first = slots.run(() => new Promise<void>((resolve) => (end = resolve)), soon());
    const late = codeOf(slots.run(async () => undefined, performance.now()));
    const next = slots.run(async () => 'next', soon());
    expect(await codeOf(slots.run(async () => undefined, soon()))).toBe('OVERLOADED');
    expect(await late).toBe('OVERLOADED');
    end();
    await first;
    expect(await next).toBe('next');
    expect(await slots.run(async () => 'free again', soon())).toBe('free again');
  });
});
