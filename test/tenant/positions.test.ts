// K18, contract 11.5: the token of how far a database and its shards are. What is printed is read back the same, of
// each name the greatest counts, and what is no token is refused.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Exchange } from '../../server/http/exchange.js';
import {
  fitInHeader,
  noteShard,
  parsePosition,
  parsePositions,
  printPositions,
} from '../../server/cluster/read/consistency-token.js';

const position = fc.record({
  epoch: fc.nat({ max: 2 ** 31 }),
  seq: fc.nat({ max: 999_999_999_999_999 }),
});
const shard = fc.stringMatching(/^[a-z_][a-z0-9_]{0,9}-\d{1,4}$/);
const shards = fc.uniqueArray(fc.tuple(shard, position), { selector: ([name]) => name });
const none = { epoch: 0, seq: 0 };

it('a token is read back as it was printed, alone and as one of two headers', () => {
  const property = fc.property(position, shards, shards, (main, some, more) => {
    const token = printPositions(main, new Map(some));
    const back = { main, shards: new Map(some) };
    expect(parsePositions(token)).toEqual(back);
    // A list may be told in pieces (RFC 9110, 5.3): of what is in both, the greatest counts.
    const both = parsePositions(`${token}, ${printPositions(none, new Map(more))}`);
    expect(both.main).toEqual(main);
    expect([...both.shards.keys()].sort()).toEqual(
      [...new Set([...some, ...more].map(([name]) => name))].sort(),
    );
    for (const [name, at] of [...some, ...more]) {
      const kept = both.shards.get(name)!;
      expect(kept.epoch > at.epoch || (kept.epoch === at.epoch && kept.seq >= at.seq)).toBe(true);
    }
  });
  fc.assert(property, { numRuns: 200 });
});

it('a token of shards only is valid, and an empty string is none', () => {
  expect(parsePositions('p-1=2.3')).toEqual({
    main: undefined,
    shards: new Map([['p-1', { epoch: 2, seq: 3 }]]),
  });
  expect([parsePosition(''), parsePosition('2.3,p-1=9.9')]).toEqual([
    undefined,
    { epoch: 2, seq: 3 },
  ]);
});

it.each([
  ...['x', '1', '1.', '.1', '-1.2', '1.2.3', '1.2,', ',1.2', '1.2,,1.3', '1.2;p-1=1.2', '1.2 '],
  ...['p-1=1', 'p-1=', 'p=1.2', 'p-1:1.2', 'P-1=1.2', 'p-12345=1.2', '=1.2', '1.1234567890123456'],
])('%j is no token', (text) => {
  expect(() => parsePositions(text)).toThrow(
    expect.objectContaining({ data: expect.objectContaining({ code: 'PARAM_VALUE' }) }),
  );
});

it('of a shard that occurs more than once, the greatest counts', () => {
  const exchange = {} as Exchange;
  for (const [epoch, seq] of [
    [1, 5],
    [1, 3],
    [2, 1],
    [1, 9],
  ])
    noteShard(exchange, 'p-0', { epoch: epoch!, seq: seq! });
  noteShard(exchange, 'p-1', { epoch: 1, seq: 1 });
  expect(printPositions({ epoch: 3, seq: 4 }, exchange.shardsAt)).toBe('3.4,p-0=2.1,p-1=1.1');
});

it('a token of all shards takes at most half of a header', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `passage-${at}`);
  expect([fitInHeader(names(200), 16_384), fitInHeader(names(300), 16_384)]).toEqual([true, false]);
  const all = new Map(names(200).map((name) => [name, { epoch: 65_538, seq: 999_999_999_999 }]));
  expect(printPositions({ epoch: 65_538, seq: 1 }, all).length).toBeLessThan(8_192);
});
