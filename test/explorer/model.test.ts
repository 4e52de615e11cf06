// The pages' pure parts: whole digits, cut texts, addresses written by hand, the steps of a canvas.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildOpenApi } from '../../engine/contract/openapi.js';
import { compile } from '../../engine/lang/compile.js';
import { hatching, isHatched } from '../../server/explorer/model/colour.js';
import { readContract } from '../../server/explorer/model/contract.js';
import { printExact, printValue } from '../../server/explorer/model/lossless-json.js';
import { GraphModel } from '../../server/explorer/model/graph-model.js';
import {
  packIds,
  packPositions,
  unpackIds,
  unpackPositions,
} from '../../server/explorer/model/packed-ids.js';
import type { Item } from '../../server/explorer/model/item.js';
import { beginningOf, shortened } from '../../server/explorer/model/short-text.js';
import { addressOf, typedOf } from '../../server/explorer/model/query-address.js';
import { type Field, membersOf, typedFrom } from '../../server/explorer/model/value-form.js';
import { unpackWalk } from '../../server/explorer/model/session.js';
import { sourcesOf } from '../support/project.js';

const hasRaw = 'rawJSON' in JSON;

test('E16: integers of any size, wherever they stand, are printed with their digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 127n), max: 2n ** 128n - 1n }), (whole) => {
      expect(printValue(whole)).toBe(String(whole));
      // Without `JSON.rawJSON` they are texts: no digit is lost there, either.
      const printed = printExact({ a: [whole, { b: whole }] });
      const bare = hasRaw ? printed : printed.replaceAll(/"(-?\d+)"/g, '$1');
      expect(bare).toBe(`{"a":[${whole},{"b":${whole}}]}`);
    }),
  );
  for (const value of [null, [], 'a', true, 1.5, { a: null }]) {
    expect(printValue(value)).toBe(typeof value === 'string' ? value : JSON.stringify(value));
  }
});

test('E16: a shortened text has the maximum length, and does not end with half a character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.integer({ min: 1, max: 30 }),
      (text, most) => {
        const [beginning, short] = [beginningOf(text, most), shortened(text, most)];
        for (const cut of [beginning, short]) {
          expect(cut.length).toBeLessThanOrEqual(most);
          expect(cut).not.toMatch(/\p{Cs}/u);
        }
        expect(text.startsWith(beginning)).toBe(true);
        if (text.length <= most) expect([beginning, short]).toEqual([text, text]);
      },
    ),
  );
});

const row: Field = {
  kind: 'object',
  optional: false,
  members: [{ name: 'at', field: { kind: 'object', optional: false, members: [] } }],
};

/** Texts, lists and objects alone, as the fields of a form take them. */
const isTyped = (value: unknown): boolean =>
  value === undefined ||
  typeof value === 'string' ||
  (typeof value === 'object' && value !== null && Object.values(value).every(isTyped));

test('E17: any JSON in an address fills the fields of a form, or leaves them empty', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      expect(isTyped(typedFrom({ kind: 'list', optional: false, of: row }, text))).toBe(true);
      expect(isTyped(typedFrom(row, text))).toBe(true);
    }),
  );
});

test('E17: any JSON in an address is a session of calls with arguments, or none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.array(fc.tuple(fc.string(), fc.anything()))), (made) => {
      const text = typeof made === 'string' ? made : (JSON.stringify(made, () => null) ?? '');
      for (const { tool, data } of unpackWalk(text)) {
        expect([typeof tool, typeof data, Array.isArray(data)]).toEqual([
          'string',
          'object',
          false,
        ]);
        expect(data).not.toBeNull();
      }
    }),
  );
  const calls = unpackWalk('[["next",{}],["next",null],["next",[]],["next"],["NO",{}]]');
  expect(unpackWalk('[[null,{}],[true,{}],[["next"],{}]]')).toEqual([]);
  expect(calls).toEqual([{ tool: 'next', data: {} }]);
});

const node = (no: number): Item => ({ id: idOf(no), label: 'N' });
const idOf = (no: number): string => `00000000-0000-7000-8000-${String(no).padStart(12, '0')}`;
const edge = (no: number, from: number, to: number): Item => ({
  id: idOf(1_000 + no),
  label: 'E',
  from_node: idOf(from),
  to_node: idOf(to),
});

test('E11: edges that arrive after their endpoints belong to the step that added those', () => {
  const model = new GraphModel();
  model.add({ nodes: [node(1)], edges: [] }, undefined, false);
  const first = model.add({ nodes: [node(2)], edges: [edge(1, 1, 2)] }, idOf(1));
  const second = model.add({ nodes: [node(3)], edges: [edge(2, 2, 3)] }, idOf(2));
  // The edges of the first step come after the second step was made.
  expect(model.join([edge(1, 1, 2), edge(3, 2, 1)], first)).toBe(true);
  expect(model.join([edge(3, 2, 1)], first)).toBe(false);
  expect(model.join([edge(4, 1, 3), edge(5, 3, 9)], second)).toBe(true);
  model.undo();
  expect([...model.edges.keys()]).toEqual([idOf(1_001), idOf(1_003)]);
  model.undo();
  expect([[...model.nodes.keys()], model.edges.size, model.canUndo]).toEqual([[idOf(1)], 0, false]);
  expect(unpackIds(packIds([idOf(1), idOf(999)]))).toEqual([idOf(1), idOf(999)]);
});

test('E17: places in an address: to a tenth, and none of what was not written', () => {
  const place = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.record({ x: place, y: place }), { maxLength: 5 }), (places) => {
      const ids = places.map((_, no) => idOf(no));
      const found = unpackPositions(ids, packPositions(places));
      expect([...found.keys()]).toEqual(ids);
      for (const [no, { x, y }] of places.entries()) {
        expect(Math.abs(found.get(idOf(no))!.x - x)).toBeLessThan(0.051);
        expect(Math.abs(found.get(idOf(no))!.y - y)).toBeLessThan(0.051);
      }
    }),
  );
  for (const text of ['', '1', '_2', '1_', 'a_b', 'NaN_1', 'Infinity_1', '1_2x']) {
    expect([text, unpackPositions([idOf(1)], text).size]).toEqual([text, 0]);
  }
  expect([...unpackPositions([idOf(1), idOf(2)], '1_2_3')]).toEqual([[idOf(1), { x: 1, y: 2 }]]);
});

test('E17: a parameter with a name that the page reserves is stored separately', () => {
  const text = 'QUERY q(filter: I64, view: I64, run: I64, body: I64, part: I64) => RETURN filter';
  const { program } = compile([{ path: 'main.hx', text }], { compat: false });
  const about = { title: 'x', version: '1', keys: false, shared: false, sees: () => true };
  const document = JSON.parse(JSON.stringify(buildOpenApi(program!, about)));
  const { queries } = readContract(document);
  const members = membersOf(queries[0]!.parameters);
  const typed = Object.fromEntries(members.map(({ name }) => [name, `of ${name}`]));
  const changes = Object.entries(addressOf(members, typed)) as [string, string][];
  expect(changes.map(([name]) => name)).toEqual(members.map(({ name }) => `$${name}`));
  expect(typedOf(members, new URLSearchParams(changes))).toEqual(typed);
});

test('types after the twelfth are hatched, within their disc', () => {
  const places = Array.from({ length: 24 }, (_, place) => isHatched(place));
  expect(places).toEqual([...new Array(12).fill(false), ...new Array(12).fill(true)]);
  expect(isHatched(undefined)).toBe(false);
  const points = [...hatching(10, 20, 5).matchAll(/(-?[\d.]+) (-?[\d.]+)/g)];
  expect(points).toHaveLength(6);
  for (const [, x, y] of points) {
    expect(Math.hypot(Number(x) - 10, Number(y) - 20)).toBeCloseTo(5, 6);
  }
});

test('forms are the same for a document that contains shared shapes one time', () => {
  const { program } = compile(sourcesOf('server/demo'), { compat: false });
  const about = { title: 'x', version: '1', keys: false, sees: () => true };
  const contracts = [false, true].map((shared) => {
    const document = JSON.parse(JSON.stringify(buildOpenApi(program!, { ...about, shared })));
    return readContract(document);
  });
  expect(contracts[1]).toEqual(contracts[0]);
  expect(contracts[0]!.queries.length).toBe(program!.queries.length);
});
