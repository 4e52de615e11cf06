// Characters that nobody sees as what they are stand as escapes wherever people read: in tables, log lines, pictures of
// faults, and what errors quote. Programs get them as they are.
import { describe, expect, test } from 'vitest';
import { extractMessage } from '../../engine/embed/provider/provider-response.js';
import { type TrellisError, errorMessage, excerpt, fail } from '../../engine/base/errors.js';
import { visible } from '../../engine/base/text/visible.js';
import { defaultLimits, printDiagnostic } from '../../engine/internal.js';
import { compile } from '../../engine/lang/compile.js';
import { createLog } from '../../server/telemetry/log.js';
import { printAnswer } from '../../server/repl/result-format.js';

/** Each by its number: this file must not be read the other way round. */
const kinds: Record<string, number[]> = {
  C0: [0x00, 0x07, 0x08, 0x1b, 0x1f],
  'DEL and C1': [0x7f, 0x80, 0x85, 0x9b, 0x9d, 0x9f],
  'marks of direction': [0x061c, 0x200e, 0x200f],
  'embeddings and overrides': [0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  isolates: [0x2066, 0x2067, 0x2068, 0x2069],
  'separators of lines': [0x2028, 0x2029],
  'what has no width': [0x200b, 0x2060, 0xfeff],
  tags: [0xe0001, 0xe0041, 0xe007f],
};
const points = Object.values(kinds).flat();
const raw = points.map((point) => String.fromCodePoint(point));
const anyOf = new RegExp(
  `[${raw.map((one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join('')}]`,
  'u',
);
const escapeOf = (text: string): string =>
  [...Array(text.length).keys()]
    .map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`)
    .join('');

describe.each(Object.keys(kinds))('%s', (kind) => {
  test.each(kinds[kind]!.map((point) => [point.toString(16), point] as const))('%s', (_, point) => {
    const one = String.fromCodePoint(point);
    const told = escapeOf(one);
    expect(visible(`a${one}b`)).toBe(`a${told}b`);
    expect(excerpt(`a${one}b`)).toBe(`a${told}b`);
    const reply = JSON.stringify({ rows: [{ [`n${one}`]: `v${one}w` }, { [`n${one}`]: 'x' }] });
    const { text } = printAnswer(reply, 'table');
    expect(text).toContain(`v${told}w`);
    expect(text).toContain(`n${told}`);
    expect(text.replaceAll('\n', '')).not.toMatch(anyOf);
    expect(printAnswer(reply, 'ndjson').text).toContain(JSON.stringify(`v${one}w`).slice(1, -1));
    for (const format of ['json', 'text'] as const) {
      const lines: string[] = [];
      const log = createLog({ level: 'info', format, write: (line) => lines.push(line) });
      log('warn', `said ${one}.`, { key: `k${one}` });
      expect(lines[0]).not.toMatch(anyOf);
      expect(lines[0]).toContain(`k${point === 0x08 ? '\\b' : told}`);
      if (format === 'json') {
        const { msg, key } = JSON.parse(lines[0]!) as { msg: string; key: string };
        expect([msg, key]).toEqual([`said ${one}.`, `k${one}`]);
      }
    }
    try {
      fail('CONFIG_INVALID', { what: excerpt(`${one}x`) });
    } catch (error) {
      expect(errorMessage((error as TrellisError).data)).not.toMatch(anyOf);
    }
    expect(extractMessage(`no ${one}!`, undefined)).not.toMatch(anyOf);
  });
});

test('a code frame shows them, and its carets are below the right characters', () => {
  const override = String.fromCodePoint(0x202e);
  const start = String.fromCodePoint(0x1b);
  const text = `QUERY q() => // ${override}${start}[31m\n    p <- N<Persn>  // ${override}\n    RETURN "${override}", z\n`;
  const file = `a${start}[2J.hx`;
  const { diagnostics } = compile([{ path: file, text }], { compat: false, limits: defaultLimits });
  expect(diagnostics.length).toBeGreaterThan(0);
  for (const one of diagnostics) {
    const picture = printDiagnostic(one, text);
    expect(picture.replaceAll('\n', '')).not.toMatch(anyOf);
    const [, line = '', carets = ''] = picture.split('\n');
    const at = carets.indexOf('^');
    const marked = line.slice(at, carets.lastIndexOf('^') + 1);
    if (one.message.includes('Persn')) expect(marked).toBe('Persn');
    if (one.message.includes('`z`')) expect(marked).toBe('z');
  }
});

test('letters and signs that are made with joiners stay as they are', () => {
  const joined = '\u{1f9d1}\u200d\u{1f680} می‌خواهم שלום é';
  expect(visible(joined)).toBe(joined);
  expect(printAnswer(JSON.stringify({ rows: [{ a: joined }] }), 'table').text).toContain(joined);
});
