// Arguments as models send them, and input schemas as hosts need them (search.md 5: AG01, AG02, AG03, AG04).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { ParameterType } from '../../../engine/base/schema.js';
import { compile } from '../../../engine/lang/compile.js';
import { shapeOfParameters } from '../../../server/mcp/tool/argument-shape.js';
import { coerceArguments } from '../../../server/mcp/tool/coerce-arguments.js';
import { Random } from '../../support/random.js';
import { plainArguments } from './plain-coercion.js';
import { readJson } from '../plain-reading.js';
import { type RunningMcp, startMcp } from '../running-mcp.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const source = `
N::Item { name: String }
QUERY take(i?: I32, w?: I64, u?: U128, f?: F64, b?: Boolean, s?: String, d?: Date, id?: ID,
    l?: [I32], t?: [String], o?: {a: I16, n?: F32, deep?: [{ok: Boolean}]}, p: U8 = 7) =>
  RETURN i, w, u, f, b, s, d, id, l, t, o, p
#[mcp]
QUERY add(name: String, count: I32) => x <- AddN<Item>({name: name}) RETURN x::{name}
`;

const id = '00000000-0000-7000-8000-000000000001';

/** What a model sends, and the member that counts; undefined: the call is refused. */
const cases: [name: string, sent: unknown, taken: unknown][] = [
  ['i', '35', 35],
  ['i', ' 35 ', 35],
  ['i', 35.0, 35],
  ['i', '35.0', 35],
  ['i', '-0', 0],
  ['i', '', null],
  ['i', '35.5', undefined],
  ['i', '035', undefined],
  ['i', 'x', undefined],
  ['i', true, undefined],
  ['i', '99999999999', undefined],
  ['w', '9007199254740993', '9007199254740993'],
  ['w', '9007199254740993.0', '9007199254740993'],
  ['u', '340282366920938463463374607431768211455', '340282366920938463463374607431768211455'],
  ['f', '0.5', 0.5],
  ['f', '1e3', 1000],
  ['f', 'NaN', undefined],
  ['f', 'Infinity', undefined],
  ['b', 'true', true],
  ['b', 'False', false],
  ['b', 'yes', undefined],
  ['b', 1, undefined],
  ['s', '', ''],
  ['s', '[1]', '[1]'],
  ['s', 5, undefined],
  ['d', '', null],
  ['d', '2026-03-01', '2026-03-01T00:00:00+00:00'],
  ['id', '', null],
  ['id', id, id],
  ['l', '[1, 2]', [1, 2]],
  ['l', ' ["1", 2.0]', [1, 2]],
  ['l', ['1', '2'], [1, 2]],
  ['l', '', null],
  ['l', '[1', undefined],
  ['l', '1,2', undefined],
  ['t', '["a", ""]', ['a', '']],
  ['o', '{"a": "5"}', { a: 5, n: null, deep: null }],
  ['o', { a: '5', n: '', deep: '[{"ok": "true"}]' }, { a: 5, n: null, deep: [{ ok: true }] }],
  ['o', '{"a": 1}, "i": {"x": 1}', undefined],
  ['o', '{"__proto__": {"a": 1}, "a": 2}', { a: 2, n: null, deep: null }],
  ['p', '', 7],
  ['p', '9', 9],
];

describe.each(['uws', 'node'] as const)('%s', (transport) => {
  let mcp: RunningMcp;
  beforeAll(async () => {
    mcp = await startMcp(transport, source);
  });
  afterAll(() => mcp.close());

  const call = async (name: string, args: object) =>
    (await mcp.ask('tools/call', { name, arguments: args })).json.result;

  test.each(cases)('AG02 a tool takes %s: %j as %j', async (name, sent, taken) => {
    const result = await call('take', { [name]: sent });
    if (taken === undefined) {
      expect(result.structuredContent).toMatchObject({ path: expect.stringMatching(`^/${name}`) });
      expect(result.structuredContent.code).toMatch(/^PARAM_(TYPE|RANGE)$/);
    } else expect(result.structuredContent[name]).toEqual(taken);
    const direct = await mcp.post('take', JSON.stringify({ [name]: sent }));
    const accepted = direct.status === 200;
    // `POST /<Query>` converts nothing: where it accepts, the tool gives the same.
    if (accepted) expect(result.isError).toBeUndefined();
  });

  test('AG02 a write is done one time, after its arguments have been converted', async () => {
    const result = await call('add', { name: 'one', count: '3' });
    expect(result.structuredContent).toEqual({ x: { name: 'one' } });
    const refused = await call('add', { name: 'two', count: 'x' });
    expect(refused.structuredContent.code).toBe('PARAM_TYPE');
    const listed = await call('n_from_type', { node_type: 'Item', connection_id: '' });
    expect(listed.structuredContent.count).toBe(1);
  });

  test('AG02 session tools and run_query convert too', async () => {
    await call('add', { name: 'more words', count: 1 });
    const found = await call('search_keyword', { query: 'words', label: 'Item', limit: '5' });
    const { connection_id } = found.structuredContent;
    expect(found.structuredContent.count).toBe(1);
    const read = await call('collect', {
      connection_id,
      range: '{"start": "0", "end": 1.0}',
      drop: 'false',
    });
    expect(read.structuredContent).toMatchObject({ count: 1, more: false });
  });

  test('AG04 without keys and with them, OAuth discovery gets 404 and a hint, everything else a 401', async () => {
    const paths = [
      '.well-known/oauth-protected-resource',
      '.well-known/oauth-protected-resource/mcp',
      '.well-known/oauth-authorization-server',
      'register',
    ];
    const own = await startMcp(transport, source);
    try {
      for (const state of ['none', 'keys']) {
        if (state === 'keys') own.key('read');
        for (const path of paths) {
          for (const method of ['GET', 'POST']) {
            const body = method === 'GET' ? {} : { body: '{}' };
            const headers = { 'Content-Type': 'application/json' };
            const reply = await own.client.request({ method, path, headers, ...body });
            expect([state, method, path, reply.status]).toEqual([state, method, path, 404]);
            const error = JSON.parse(reply.text);
            expect([error.code, error.hint]).toEqual([
              'NOT_FOUND',
              expect.stringContaining('x-api-key'),
            ]);
          }
        }
      }
      expect((await own.post('mcp', '{}')).status).toBe(401);
      expect((await own.post('registered', '{}')).status).toBe(401);
    } finally {
      own.close();
    }
  });

  test('AG04 a query called register keeps its key', async () => {
    const own = await startMcp(transport, 'QUERY register() => RETURN 1');
    try {
      const key = own.key('write');
      expect((await own.post('register', '{}')).status).toBe(401);
      expect((await own.post('register', '{}', { 'x-api-key': key })).status).toBe(200);
    } finally {
      own.close();
    }
  });

  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'AG03 %s is answered in kind',
    async (protocolVersion) => {
      const asked = { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      const hello = await mcp.ask('initialize', asked, { legacy: true });
      expect(hello.json.result.protocolVersion).toBe(protocolVersion);
      const headers = { 'MCP-Protocol-Version': protocolVersion };
      const sent = { name: 'take', arguments: { i: 1 } };
      const told = await mcp.ask('tools/call', sent, { legacy: true, headers });
      expect(told.json.result.structuredContent.i).toBe(1);
    },
  );

  test('AG04 every tool has the prefix, and is called by it', async () => {
    const own = await startMcp(transport, source, {
      'mcp.tool_prefix': 'shop_',
      'mcp.tools_max': '1',
    });
    try {
      const { tools } = (await own.ask('tools/list')).json.result;
      const names: string[] = tools.map((tool: { name: string }) => tool.name);
      expect(names.filter((name) => !name.startsWith('shop_'))).toEqual([]);
      expect(names).toEqual(expect.arrayContaining(['shop_add', 'shop_run_query', 'shop_collect']));
      const ask = async (name: string, args: object) =>
        (await own.ask('tools/call', { name, arguments: args })).json;
      expect((await ask('shop_take', { i: '4' })).result.structuredContent.i).toBe(4);
      expect((await ask('take', {})).error.message).toBe('Unknown tool: take');
      const inner = { name: 'shop_take', arguments: { i: '5' } };
      expect((await ask('shop_run_query', inner)).result.structuredContent.i).toBe(5);
      expect((await own.ask('server/discover')).json.result.instructions).toContain(
        'shop_n_from_type',
      );
      const prompt = { name: 'explore', arguments: { question: '?' } };
      const got = (await own.ask('prompts/get', prompt)).json.result.messages[0].content.text;
      expect(got).toContain('shop_out_step');
      expect(got).not.toContain('{{tool}}');
    } finally {
      own.close();
    }
  });
});

test('AG02 random arguments are converted as a slow reading of the table converts them', () => {
  const { program } = compile([{ path: 'main.hx', text: source }], { compat: false });
  const { parameters } = program!.queries[0]!.plan;
  const shape = shapeOfParameters(parameters);
  const random = new Random(3);
  const words = [
    '',
    '1',
    '-2.0',
    '1e2',
    'true',
    'False',
    '[]',
    '["1"]',
    '{"a":"2"}',
    'x',
    ' 7 ',
    '"',
    '[1,',
  ];
  const value = (type: ParameterType, depth: number): string => {
    const way = random.below(6);
    if (way === 0) return JSON.stringify(random.pick(words));
    if (way === 1)
      return random.pick([
        '1',
        '2.0',
        '2.50',
        '-3',
        '1e3',
        '1e400',
        'true',
        'null',
        '12345678901234567890',
      ]);
    if (type.kind === 'list') {
      const items = Array.from({ length: random.below(4) }, () => value(type.of, depth + 1));
      return way === 2 ? JSON.stringify(`[${items.join()}]`) : `[${items.join()}]`;
    }
    if (type.kind === 'object') {
      const present = type.members.filter(() => random.below(3) > 0);
      const members = present.map(({ name, type: of }) => `"${name}":${value(of, depth + 1)}`);
      return way === 2 ? JSON.stringify(`{${members.join()}}`) : `{${members.join()}}`;
    }
    return random.pick(['5', '"5"', '"5.0"', '5.0', '"true"', 'false', '""', '"2026-03-01"']);
  };
  let changes = 0;
  for (let i = 0; i < (isLong ? 200_000 : 5_000); i++) {
    const present = parameters.filter(() => random.below(3) === 0);
    const text = `{${present.map(({ name, type }) => `"${name}":${value(type, 0)}`).join()}}`;
    const expected = plainArguments(readJson(Buffer.from(text))!, parameters);
    const converted = coerceArguments(Buffer.from(text), shape, defaultLimits);
    if (converted !== undefined) changes++;
    expect([text, converted ?? text]).toEqual([text, expected]);
  }
  expect(changes).toBeGreaterThan(1_000);
});

/** Every place in a schema that a host of Gemini's models refuses. */
function refusals(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]) => {
    const at = `${path}/${name}`;
    const isList = name === 'type' && Array.isArray(value);
    const isUnion = ['anyOf', 'oneOf', 'allOf'].includes(name);
    const isFormat = name === 'format' && value !== 'int64' && typeof value === 'string';
    return [...(isList || isUnion || isFormat ? [at] : []), ...refusals(value, at)];
  });
}

const scalars = 'String Boolean Date ID I8 I16 I32 I64 U8 U16 U32 U64 U128 F32 F64'.split(' ');

test.each(['string', 'integer'] as const)(
  'AG01 no input schema of 300 generated queries has a list of types or a union (integers: %s)',
  async (integers) => {
    const random = new Random(integers.length);
    const type = (depth: number): string => {
      const way = random.below(depth > 2 ? 4 : 7);
      if (way < 4) return random.pick(scalars);
      if (way < 6) return `[${type(depth + 1)}]`;
      const members = Array.from({ length: 1 + random.below(3) }, (_, i) => {
        return `m${i}${random.below(2) ? '?' : ''}: ${type(depth + 1)}`;
      });
      return `{${members.join(', ')}}`;
    };
    const queries = Array.from({ length: 300 }, (_, i) => {
      const parameters = Array.from({ length: random.below(6) }, (_, k) => {
        return `p${k}${random.below(2) ? '?' : ''}: ${type(0)}`;
      });
      return `QUERY q${i}(${parameters.join(', ')}) => RETURN NONE\n`;
    });
    const bounded = `N::All { a: I32 }\nV::Point { name: String }
QUERY bounded(from: I64, to: U128, k: I64, most: U64 = 5) =>
  page <- N<All>::RANGE(from, to)
  near <- SearchV<Point>([1.0, 2.0], k)
  last <- N<All>::ORDER<Asc>(_::{a})::PAGE(most)
  RETURN page, near, last\n`;
    const settings = { 'mcp.integers': integers, 'mcp.tools_max': '1000' };
    const mcp = await startMcp('node', bounded + queries.join(''), settings);
    try {
      const { tools } = (await mcp.ask('tools/list')).json.result;
      expect(tools.length).toBeGreaterThan(301);
      for (const { name, inputSchema } of tools)
        expect([name, refusals(inputSchema)]).toEqual([name, []]);
      const k = tools.find(({ name }: { name: string }) => name === 'bounded').inputSchema
        .properties.k;
      expect(k.type).toBe(integers);
      expect(Object.keys(k)).toEqual(
        integers === 'string' ? ['type', 'pattern'] : ['type', 'format', 'minimum', 'maximum'],
      );
    } finally {
      mcp.close();
    }
  },
);

test('AG04 a tool that cannot work is not listed', async () => {
  const listed = async (
    schema: string,
    settings: Record<string, string> = {},
  ): Promise<string[]> => {
    const mcp = await startMcp('node', schema, settings);
    try {
      const { tools } = (await mcp.ask('tools/list')).json.result;
      return tools.map(({ name }: { name: string }) => name);
    } finally {
      mcp.close();
    }
  };
  const searches = /^search/;
  const of = async (schema: string, settings?: Record<string, string>): Promise<string[]> =>
    (await listed(schema, settings)).filter(
      (name) => searches.test(name) || /^(e_|n_|out_step|ask)/.test(name),
    );
  const vectors =
    'V::Doc { at: I32 }\nQUERY ask(text: String) => d <- SearchV<Doc>(Embed(text), 3) RETURN d\n';
  expect(await of('N::A { n: I32 }\n')).toEqual(['n_from_type']);
  expect(await of('N::A { n: String }\n')).toEqual(['n_from_type', 'search_keyword']);
  expect(await of('N::A { n: [String] }\n', { 'text.enabled': 'false' })).toEqual(['n_from_type']);
  expect(await of('N::A { n: I32 }\nE::L { From: A, To: A }\n')).toEqual([
    'n_from_type',
    'e_from_type',
    'out_step',
  ]);
  expect(await of(vectors)).toEqual(['search_vector']);
  const hash = { 'embedding.model': 'hash:8' };
  expect(await of(vectors, hash)).toEqual(['ask', 'search_vector', 'search_vector_text']);
  const ofType = { 'vectors.Doc.embedding_model': 'hash:8' };
  expect(await of(vectors, ofType)).toEqual(['ask', 'search_vector', 'search_vector_text']);
});
