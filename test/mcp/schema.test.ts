// The schemas of tools: what they take is what `POST /<Query>` takes, and replies are what they say
// (mcp.md 11: M04, M05, M06).
import { readdirSync, readFileSync } from 'node:fs';
import Schema from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import type { ParameterType } from '../../engine/base/schema.js';
import { parametersSchema } from '../../engine/contract/json-schema.js';
import { compile } from '../../engine/lang/compile.js';
import { packages } from '../support/packages.js';
import { startMcp } from './running-mcp.js';

const folder = new URL('../../server/demo/', import.meta.url);
const sources = readdirSync(folder)
  .filter((name) => name.endsWith('.hx'))
  .map((name) => ({ path: name, text: readFileSync(new URL(name, folder), 'utf8') }));
const everyKind = `
N::All { a: I32 }
QUERY every(s: String, id: ID, b: Boolean, d: Date, i: I8, u: U16, w: I64, x: U128, f: F64,
    l: [I32], v: [F64], o: {a: String, n?: I32}, os: [{k: U8}], maybe?: String) =>
  n <- N<All>::COUNT
  RETURN n, s, id, b, d, i, u, w, x, f, l, v, maybe
V::Point { name: String }
QUERY bounded(from: I64, to: I16, k: I32, most: I16, size: U128) =>
  page <- N<All>::RANGE(from, to)
  near <- SearchV<Point>([1.0, 2.0], k)
  more <- SearchV<Point>([1.0, 2.0], size)
  last <- N<All>::ORDER<Asc>(_::{a})::PAGE(most)
  RETURN page, near, more, last
`;
const { program } = compile([...sources, { path: 'every.hx', text: everyKind }], { compat: false });

const isLong = process.env.TRELLIS_TEST_LONG === '1';
const perQuery = isLong ? 1_000 : 20;

let state = 3;
const below = (count: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * count);
};
const pick = <T>(...values: T[]): T => values[below(values.length)]!;

const uuid = '00000000-0000-7000-8000-000000000001';
const wide = ['9007199254740993', '-1', '0', '42', '9999', '10000', '10001'];

/** A value that fits a type; integers of 64 bits and more as text half of the time. */
function fitting(type: ParameterType): unknown {
  if (type.kind === 'list') return Array.from({ length: below(3) }, () => fitting(type.of));
  if (type.kind === 'object') {
    const present = type.members.filter(({ optional }) => !optional || below(2) === 0);
    return Object.fromEntries(present.map(({ name, type: of }) => [name, fitting(of)]));
  }
  const { name } = type;
  if (name === 'String') return pick('', 'x', '5', 'é\u{1F332}');
  if (name === 'ID') return uuid;
  if (name === 'Boolean') return below(2) === 0;
  if (name === 'Date') return '2026-03-01T08:00:00Z';
  if (name.startsWith('F')) return pick(0, -1.5, 1e20, 3);
  if (/64|128/.test(name)) {
    return name.startsWith('U')
      ? pick<unknown>('42', 0, 7, -1, '-1', '10001')
      : pick<unknown>(...wide, 5, -5);
  }
  return name.startsWith('U') ? pick(0, 200) : pick(0, -100, 100);
}

/** A value that fits, or one that stands for what callers get wrong. */
function value(type: ParameterType): unknown {
  const isWrong = below(12) === 0;
  return isWrong ? pick<unknown>(null, true, 7, 1.5, 'text', [], {}, [true], -2.5) : fitting(type);
}

function argumentsFor(parameters: NonNullable<typeof program>['queries'][0]['plan']['parameters']) {
  const present = parameters.filter(() => below(15) > 0);
  return Object.fromEntries(present.map(({ name, type }) => [name, value(type)]));
}

/** The demo, and a query of every kind of parameter, in a server that knows nobody. */
const startAll = (transport: 'uws' | 'node') =>
  startMcp(transport, [...sources.map(({ text }) => text), everyKind].join('\n'));

// M19: what is said of schemas holds on each transport.
describe.each(['uws', 'node'] as const)(
  'M05 %s: what a schema accepts is what POST takes',
  (transport) => {
    test.each(program!.queries.map((query) => [query.name, query] as const))(
      '%s',
      async (name, query) => {
        const { parameters } = query.plan;
        // Of its own: what writes have left would make those behind them slower and slower.
        const mcp = await startAll(transport);
        mcp.database.model = () => Float64Array.of(1, 2);
        const style = { searchMax: defaultLimits.search_k };
        const validator = Schema.Compile(parametersSchema(query.plan, style));
        const forTools = (['string', 'integer'] as const).map((wide) =>
          Schema.Compile(parametersSchema(query.plan, { ...style, wide })),
        );
        let taken = 0;
        const tries = parameters.length > 4 ? 4 * perQuery : perQuery;
        for (let i = 0; i < tries; i++) {
          const given = argumentsFor(parameters);
          const body = JSON.stringify(given);
          const { json } = await mcp.post(name, body);
          const isRefused = /^PARAM_/.test(json.code ?? '');
          expect([validator.Check(given), body, json.code]).toEqual([!isRefused, body, json.code]);
          // A tool's schema names one form of each value. What it accepts is taken too.
          const isOffered = forTools.some((tool) => tool.Check(given));
          expect([isOffered && isRefused, body, json.code]).toEqual([false, body, json.code]);
          if (!isRefused) taken++;
        }
        mcp.close();
        expect(taken).toBeGreaterThan(0);
      },
    );
  },
);

test('M04 the list is the same in every server', async () => {
  const lists = new Set<string>();
  const text = sources.map(({ text }) => text).join('\n');
  for (const transport of ['uws', 'node', 'uws'] as const) {
    const mcp = await startMcp(transport, text);
    lists.add((await mcp.ask('tools/list')).text.replace(/"id":\d+/, ''));
    mcp.close();
  }
  expect(lists.size).toBe(1);
});

test.each(['uws', 'node'] as const)(
  'M06 %s: what is structured is of the schema that the tool shows',
  async (transport) => {
    const mcp = await startMcp(transport, sources.map(({ text }) => text).join('\n'));
    const person = mcp.database.addNode('Person', { key: 'newton', name: 'Newton', born: 1643 });
    const work = mcp.database.addNode('Work', { key: 'principia', title: 'Principia', year: 1687 });
    mcp.database.addEdge('Wrote', person, work);
    const { tools } = (await mcp.ask('tools/list')).json.result;
    let checked = 0;
    for (const { name, outputSchema } of tools) {
      const query = program!.queries.find((each) => each.name === name);
      if (query === undefined || outputSchema === undefined) continue;
      const validator = Schema.Compile(outputSchema);
      for (let i = 0; i < (isLong ? 100 : 6); i++) {
        const named = ['newton', 'principia', 'x'];
        const given = query.plan.parameters.map(({ name: parameter, type }) => {
          const isKey = type.kind === 'scalar' && type.name === 'String';
          return [parameter, isKey ? pick(...named) : fitting(type)];
        });
        const asked = { name, arguments: Object.fromEntries(given) };
        const { result } = (await mcp.ask('tools/call', asked)).json;
        if (result.isError) continue;
        checked++;
        const isFitting = validator.Check(result.structuredContent);
        expect([name, isFitting, isFitting ? '' : result.content[0].text]).toEqual([
          name,
          true,
          '',
        ]);
      }
    }
    mcp.close();
    expect(checked).toBeGreaterThan(40);
  },
);

const found = await packages('ajv@8.17.1', 'ajv-formats@3.0.1');
if (typeof found === 'string') console.log(`the schemas are not given to Ajv: ${found}`);

test.skipIf(typeof found === 'string')('M05 every schema compiles under Ajv 2020', async () => {
  const { load } = found as Exclude<typeof found, string>;
  const { default: Ajv } = await load('ajv/dist/2020.js');
  const { default: addFormats } = await load('ajv-formats/dist/index.js');
  const mcp = await startMcp('uws', sources.map(({ text }) => text).join('\n'));
  const { tools } = (await mcp.ask('tools/list')).json.result;
  const ajv = new Ajv({ strict: true, strictTypes: false });
  (addFormats.default ?? addFormats)(ajv);
  for (const { inputSchema, outputSchema } of tools) {
    ajv.compile(inputSchema);
    if (outputSchema !== undefined) ajv.compile(outputSchema);
  }
  mcp.close();
});
