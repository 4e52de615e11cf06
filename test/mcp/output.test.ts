// What a tool's answer becomes: exact integers as text, long lists cut between items.
import { expect, test } from 'vitest';
import { outlineOf } from '../../server/mcp/tool/json-outline.js';
import { outputOf } from '../../server/mcp/tool/output.js';
import { randomSource } from './random-json.js';

const advice = 'Ask for fewer.';
const plain = { limit: 20_000, widePaths: 0, advice } as const;

// biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it likes
const resultOf = (reply: string, limit: number): any => {
  const { members, meta } = outputOf(reply, { ...plain, limit });
  return JSON.parse(`{${members}${meta === '' ? '' : `,"_meta":{${meta}}`}}`);
};

test('M13 a list of 10,000 is shortened at an item, and the result says how to continue', () => {
  const passages = Array.from({ length: 10_000 }, (_, no) => ({ no, text: `"},{[${no}` }));
  const result = resultOf(JSON.stringify({ total: 10_000, passages }), 20_000);
  const { shown, total, list } = result._meta['dev.trellisdb/cut'];
  expect([list, total]).toEqual(['/passages', 10_000]);
  expect(result.structuredContent).toEqual({ total, passages: passages.slice(0, shown) });
  const { length } = JSON.stringify(result.structuredContent);
  expect(length).toBeLessThanOrEqual(20_000);
  expect(length).toBeGreaterThan(19_900);
  expect(result.content[1].text).toBe(`Shown ${shown} of 10,000 passages. ${advice}`);
});

test('the list that makes an answer long is cut, wherever it is', () => {
  const long = Array.from({ length: 1_000 }, (_, no) => no);
  const nested = { authors: [{ name: 'Ada', books: long }], short: [1, 2, 3] };
  const { structuredContent, _meta } = resultOf(JSON.stringify(nested), 500);
  expect(_meta['dev.trellisdb/cut'].list).toBe('/authors/0/books');
  expect(structuredContent.short).toEqual([1, 2, 3]);
  const two = resultOf(JSON.stringify({ a: long, b: long }), 500);
  expect(JSON.stringify(two.structuredContent).length).toBeLessThanOrEqual(500);
});

test('one long value is cut for eyes only', () => {
  const value = { text: '\u{1F332}'.repeat(500) };
  const { structuredContent, content } = resultOf(JSON.stringify(value), 300);
  expect(structuredContent).toEqual(value);
  expect(content[0].text).toMatch(/… \(cut\)$/);
  expect(content[0].text.isWellFormed?.() ?? true).toBe(true);
});

test('any reply stays what it is, only shorter', () => {
  const random = randomSource(7);
  for (let i = 0; i < 300; i++) {
    const value = { root: random.value(4) };
    const reply = JSON.stringify(value);
    expect(resultOf(reply, reply.length).structuredContent).toEqual(value);
    for (const limit of [1, 40, 200, reply.length - 1]) {
      const { structuredContent, content } = resultOf(reply, limit);
      expect(isPart(structuredContent, value)).toBe(true);
      expect(content[0].text.length).toBeLessThanOrEqual(Math.max(limit, 0) + 7);
    }
  }
});

/** Whether a value is another one with lists that end sooner. */
function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole;
  const others = whole as Record<string, unknown>;
  const isList = Array.isArray(part);
  if (!isList && Object.keys(part).length !== Object.keys(others).length) return false;
  return Object.entries(part).every(([name, value]) => isPart(value, others[name]));
}

test('M07 integers beyond 53 bits are found where the type says so, and nowhere else', () => {
  const reply =
    '{"n":9007199254740992,"m":-9007199254740993,"s":"9007199254740993","l":[9007199254740991,18446744073709551615],"f":1e300,"\\u006e":9007199254740993}';
  const texts = (places: Parameters<typeof outlineOf>[1]): string[] => {
    const { wide } = outlineOf(reply, places);
    return Array.from({ length: wide.length / 2 }, (_, i) =>
      reply.slice(wide[2 * i], wide[2 * i + 1]),
    );
  };
  const [n, m, last] = ['9007199254740992', '-9007199254740993', '18446744073709551615'];
  expect(texts('every')).toEqual([n, m, last, '9007199254740993']);
  expect(texts({ n: 3, l: [3] })).toEqual([n, last]);
  expect(texts({ n: 4, l: [0] })).toEqual([]);
  const { members } = outputOf(reply, { ...plain, widePaths: 'every' });
  expect(members).toContain(`"structuredContent":{"n":"${n}","m":"${m}"`);
});
