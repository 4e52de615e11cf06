// Facts that pages once stated in two ways. Each is stated on one page, and other pages link to it.
import { describe, expect, test } from 'vitest';
import { readManual } from '../support/page.js';

interface Fact {
  name: string;
  /** The page that tells it, with the words that must be there. */
  page: string;
  says: RegExp;
  /** What no other page may say. */
  never: RegExp;
}

const facts: Fact[] = [
  {
    name: 'what an error leaves behind',
    page: 'server/errors.md',
    says: /query that fails changes nothing, with one exception: after `OUTCOME_UNKNOWN`/,
    never: /(error has changed|that fails changes) nothing[.]/,
  },
  {
    name: 'when renewed TLS files count',
    page: 'server/security.md',
    says: /the transport `node` reads them on SIGHUP.*uWebSockets\.js, the default, reads them at the next start/s,
    never: /TLS files are read again|keys and TLS files again/,
  },
];

describe.each(facts)('$name', ({ page, says, never }) => {
  const pages = readManual();
  test('is on its page', () => {
    expect(pages.find(({ path }) => path === page)?.text).toMatch(says);
  });
  test('and nowhere otherwise', () => {
    expect(pages.filter(({ text }) => never.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
