// Properties of the type Json [HT05] on a server: values as they were written, comparisons by JSON type, `GET`,
// hostile inputs, CSV and NDJSON, dump and load, a migration to String, sessions, and the printed types.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import { compile } from '../../../engine/lang/compile.js';
import { makeFolder, writeProject } from '../../support/project.js';
import { runCli, type Server, startServer } from '../../support/server/server.js';

const schema = `
N::Doc { UNIQUE INDEX key: String, meta: Json, parts: [Json] }
E::Cites { From: Doc, To: Doc, Properties: { why: Json } }
V::Chunk { text: String, meta: Json }
`;
const source = `${schema}
// Adds a document.
#[mcp]
QUERY add(key: String, meta?: Json, parts?: [Json]) =>
  d <- AddN<Doc>({ key: key, meta: meta, parts: parts }) RETURN d::{ meta, parts }
QUERY set(key: String, meta: Json) =>
  d <- N<Doc>({ key: key })::UPDATE({ meta: meta }) RETURN d::{ meta }
QUERY get(key: String) => RETURN N<Doc>({ key: key })::{ meta, parts }
QUERY all() => RETURN N<Doc>
QUERY clear() => DROP N<Doc> RETURN 1
QUERY equal(x: Json) => RETURN N<Doc>::WHERE(_::{meta}::EQ(x))::{key}
QUERY unequal(x: Json) => RETURN N<Doc>::WHERE(_::{meta}::NEQ(x))::{key}
QUERY part(x: Json) => RETURN N<Doc>::WHERE(_::{meta}::GET("a.b")::EQ(x))::{key}
QUERY above(x: F64) => RETURN N<Doc>::WHERE(_::{meta}::GET("n")::GT(x))::{key}
QUERY starts(x: String) => RETURN N<Doc>::WHERE(_::{meta}::GET("s")::STARTS_WITH(x))::{key}
QUERY has(x: String) => RETURN N<Doc>::WHERE(_::{meta}::GET("tags")::CONTAINS(x))::{key}
QUERY among(xs: [String]) => RETURN N<Doc>::WHERE(_::{meta}::GET("s")::IS_IN(xs))::{key}
QUERY read() => RETURN N<Doc>::{ key, ab: _::{meta}::GET("a.b"), dot: _::{meta}::GET("x\\\\.y") }
QUERY ordered() => RETURN N<Doc>::ORDER<Desc>(_::{meta}::GET("n"))::{key}
QUERY built(n: I64) => RETURN AddN<Doc>({ key: "built", meta: { n: n, l: [1, 2], o: { t: true } } })::{meta}
QUERY chunk(v: [F64], meta: Json) => AddV<Chunk>(v, { text: "t", meta: meta }) RETURN 1
QUERY near(v: [F64], x: String) =>
  h <- SearchV<Chunk>(v, 5)::PREFILTER(_::{meta}::GET("author")::EQ(x)) RETURN h::{ meta, score }
QUERY echo(x: Json, xs: [Json]) => RETURN x, xs
`;

let server: Server;
const post = async (path: string, body: string): Promise<{ status: number; text: string }> => {
  const { status, text } = await server.client.request({ path: `/${path}`, body });
  return { status, text };
};
/** Returns the text of the reply. */
const ask = async (path: string, body = '{}'): Promise<string> => {
  const { status, text } = await post(path, body);
  expect(text, text).not.toContain('"error"');
  expect(status).toBe(200);
  return text;
};
const keys = async (path: string, body = '{}'): Promise<string[]> =>
  (JSON.parse(await ask(path, body)) as { data: { key: string }[] }).data.map(({ key }) => key);

beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': source } });
});
afterAll(() => server.dispose());

/** Json texts as sent, and as they are stored and printed. */
const exact: [sent: string, stored: string][] = [
  ['1.0', '1.0'],
  ['-0', '-0'],
  ['1E400', '1E400'],
  ['0.10', '0.10'],
  ['123456789012345678901234567890', '123456789012345678901234567890'],
  ['"\\u0041 \\n é 😀"', '"\\u0041 \\n é 😀"'],
  ['true', 'true'],
  ['[ ]', '[]'],
  ['{ }', '{}'],
  ['{ "b" : 1 , "a" : [ 1.0 , { "x" : null } ] }', '{"b":1,"a":[1.0,{"x":null}]}'],
  [
    '{"__proto__":{"polluted":1},"constructor":{"prototype":2}}',
    '{"__proto__":{"polluted":1},"constructor":{"prototype":2}}',
  ],
  ['{"a":"} ] , \\" x"}', '{"a":"} ] , \\" x"}'],
];

describe('HT05 values', () => {
  it.each(exact)('%s is stored and printed as %s', async (sent, stored) => {
    await ask('clear');
    const printed = `{"meta":${stored},"parts":[${stored},${stored}]}`;
    const body = `{"key":"a","meta":${sent},"parts":[${sent}, ${sent}]}`;
    expect(await ask('add', body)).toBe(`{"d":${printed}}`);
    expect(await ask('get', '{"key":"a"}')).toBe(`{"data":${printed}}`);
    expect(await ask('echo', `{"x":${sent},"xs":[${sent}]}`)).toBe(
      `{"x":${stored},"xs":[${stored}]}`,
    );
    expect(await keys('equal', `{"x":${sent}}`)).toEqual(['a']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
  it('null is unset', async () => {
    await ask('clear');
    expect(await ask('add', '{"key":"a","meta":null}')).toBe('{"d":{"meta":null,"parts":null}}');
    expect((await post('set', '{"key":"a","meta":null}')).text).toContain('PARAM_TYPE');
  });
  it('an object and a list of the query become Json', async () => {
    await ask('clear');
    expect(await ask('built', '{"n":7}')).toBe(
      '{"data":{"meta":{"n":7,"l":[1,2],"o":{"t":true}}}}',
    );
  });
});

describe('HT05 comparisons', () => {
  const rows: Record<string, string> = {
    text: '"5"',
    five: '5',
    fiveFloat: '5.0',
    yes: 'true',
    list: '[1, 2]',
    object: '{"x": 1, "y": [2]}',
    nested: '{"a": {"b": 5}, "n": 10, "s": "abc", "tags": ["x", "y"], "x.y": 1}',
    other: '{"a": {"b": "5"}, "n": 9.5, "s": "abd", "tags": "x"}',
    wide: '{"n": 9007199254740993}',
    words: '{"n": "11", "s": 5, "a": {"b": {"c": 1}}}',
  };
  beforeAll(async () => {
    await ask('clear');
    for (const [key, meta] of Object.entries(rows))
      await ask('add', `{"key":"${key}","meta":${meta}}`);
    await ask('add', '{"key":"unset"}');
  });
  it.each([
    ['equal', '{"x":5}', ['five', 'fiveFloat']],
    ['equal', '{"x":"5"}', ['text']],
    ['equal', '{"x":true}', ['yes']],
    ['equal', '{"x":[1,2.0]}', ['list']],
    ['equal', '{"x":[2,1]}', []],
    ['equal', '{"x":{"y":[2.0],"x":1}}', ['object']],
    ['equal', '{"x":{"x":1}}', []],
    ['part', '{"x":5}', ['nested']],
    ['part', '{"x":"5"}', ['other']],
    ['part', '{"x":{"c":1.0}}', ['words']],
    ['above', '{"x":9}', ['nested', 'other', 'wide']],
    ['above', '{"x":9007199254740992}', ['wide']],
    ['starts', '{"x":"ab"}', ['nested', 'other']],
    ['has', '{"x":"x"}', ['nested', 'other']],
    ['has', '{"x":"y"}', ['nested']],
    ['among', '{"xs":["abd","5"]}', ['other']],
  ])('%s %s finds %j', async (query, body, wanted) => {
    expect((await keys(query, body)).sort()).toEqual([...wanted].sort());
  });
  it('GET reads members, positions and names with dots', async () => {
    const { data } = JSON.parse(await ask('read')) as { data: { key: string }[] };
    const found = new Map(data.map(({ key, ...rest }) => [key, rest]));
    expect(found.get('nested')).toEqual({ ab: 5, dot: 1 });
    expect(found.get('words')).toEqual({ ab: { c: 1 }, dot: null });
    expect(found.get('five')).toEqual({ ab: null, dot: null });
    expect((await keys('ordered')).slice(0, 2)).not.toContain('unset');
  });
  it('a filter of a vector search reads it', async () => {
    await ask('chunk', '{"v":[1,0],"meta":{"author":"ann","page":3}}');
    await ask('chunk', '{"v":[0.9,0.1],"meta":{"author":"bo"}}');
    expect(await ask('near', '{"v":[1,0],"x":"bo"}')).toContain('"meta":{"author":"bo"}');
    expect(await ask('near', '{"v":[1,0],"x":"cy"}')).toBe('{"h":[]}');
  });
});

describe('HT05 hostile inputs', () => {
  it.each([
    ['a duplicate member', '{"key":"h","meta":{"a":1,"a":2}}', 'DUPLICATE_MEMBER'],
    ['deep nesting', `{"key":"h","meta":${'['.repeat(100)}${']'.repeat(100)}}`, 'JSON_TOO_DEEP'],
    [
      'deeper nesting',
      `{"key":"h","meta":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
      'JSON_TOO_DEEP',
    ],
    ['a lone surrogate', '{"key":"h","meta":{"a":"\\ud800"}}', 'BAD_STRING'],
    ['a broken number', '{"key":"h","meta":{"a":01}}', 'BAD_JSON'],
    ['a large value', `{"key":"h","meta":"${'x'.repeat(5 * 2 ** 20)}"}`, 'VALUE_TOO_LARGE'],
    ['a null among parts', '{"key":"h","parts":[1,null]}', 'PARAM_TYPE'],
  ])('refuses %s', async (_, body, code) => {
    const { status, text } = await post('add', body);
    expect(text).toContain(`"code":"${code}"`);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
  it('keeps a value at the limit of depth', async () => {
    const deep = `${'[['.repeat(31)}${']]'.repeat(31)}`;
    expect(await ask('add', `{"key":"deep","meta":${deep}}`)).toContain(deep);
    expect(await keys('equal', `{"x":${deep}}`)).toEqual(['deep']);
  });
});

describe('HT05 files', () => {
  const run = async (cwd: string, ...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCli(argv, { cwd });
    expect(code, stdout + stderr).toBe(0);
    return stdout + stderr;
  };
  it('imports NDJSON and CSV, and dumps and loads the same bytes', async () => {
    const folder = makeFolder();
    writeProject(folder, { sources: { 'main.hx': source } });
    const rows = exact.slice(0, 6).concat(exact.slice(7));
    const nodes = rows.map(
      ([sent], at) => `{"node":"Doc","properties":{"key":"n${at}","meta":${sent}}}`,
    );
    writeFileSync(join(folder, 'rows.ndjson'), `${nodes.join('\n')}\n`);
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const cells = rows.map(([sent], at) => `c${at},${cell(sent)}`);
    writeFileSync(join(folder, 'Doc.csv'), `key,meta\n${cells.join('\n')}\nplain,no json\n`);
    const data = join(folder, 'data');
    await run(folder, 'import', 'rows.ndjson', '--data', data);
    await run(folder, 'import', 'Doc.csv', '--node', 'Doc', '--data', data);
    await run(folder, 'dump', 'a.ndjson', '--data', data);
    const dumped = readFileSync(join(folder, 'a.ndjson'), 'utf8');
    for (const [, stored] of rows) expect(dumped.split(`"meta":${stored}`)).toHaveLength(3);
    expect(dumped).toContain('"meta":"no json"');
    const fresh = join(makeFolder(), 'data');
    await run(folder, 'load', 'a.ndjson', '--data', fresh);
    await run(folder, 'dump', 'b.ndjson', '--data', fresh);
    expect(readFileSync(join(folder, 'b.ndjson'), 'utf8')).toBe(dumped);
    await run(folder, 'verify', fresh, '--deep');
  });
});

describe('HT05 types', () => {
  const codes = (text: string): string[] =>
    compile([{ path: 'a.hx', text }], { compat: false, limits: defaultLimits }).diagnostics.map(
      ({ code }) => code,
    );
  it.each([
    ['N::T { INDEX m: Json }', ['E733']],
    ['N::T { UNIQUE INDEX m: [Json] }', ['E733']],
    ['N::T { m: Json DEFAULT 1 }', ['E205']],
    ['N::T { m: Json DEFAULT NONE }', ['W114']],
    ['N::T { m: Json } QUERY q() => RETURN N<T>({ m: "x" })', ['E747']],
    ['N::T { m: Json } QUERY q(p: String) => RETURN N<T>::{m}::GET(p)', ['E747']],
    ['N::T { m: Json } QUERY q() => RETURN N<T>::{m}::GET("a..b")', ['E747']],
    ['N::T { s: String } QUERY q() => RETURN N<T>::{s}::GET("a")', ['E747']],
    ['N::T { GET: I64 } QUERY q() => RETURN { x: N<T>::{GET}, y: N<T>::FIRST::GET }', []],
    ['N::Json { a: I64 } QUERY q(x: Json) => RETURN x.a', ['W117']],
    ['N::T { Json: I64 } QUERY q(t: I64) => Json <- t RETURN Json', []],
    ['N::T { m: Json } QUERY q() => t <- N<T>::FIRST RETURN AddN<T>({ m: t })', ['E205']],
  ])('%s reports %j', (text, wanted) => {
    expect(codes(text)).toEqual(wanted);
  });
  it('appears in OpenAPI, TypeScript, Python and tools', async () => {
    const { client } = server;
    const openapi = await client.request({ method: 'GET', path: '/openapi.json' });
    expect(openapi.status).toBe(200);
    const { components } = JSON.parse(openapi.text) as {
      components: { schemas: Record<string, { properties: Record<string, unknown> }> };
    };
    expect(components.schemas.Doc!.properties.meta).toEqual({});
  });
  it('a session filters by it', async () => {
    await ask('clear');
    await ask('add', '{"key":"s","meta":"red"}');
    await ask('add', '{"key":"t","meta":{"c":"red"}}');
    const id = JSON.parse(await ask('mcp/init')) as string;
    const call = (tool: string, data: object) =>
      ask(`mcp/${tool}`, JSON.stringify({ connection_id: id, ...data }));
    await call('n_from_type', { data: { node_type: 'Doc' } });
    await call('filter_items', {
      data: { filter: { properties: [[{ key: 'meta', value: 'red', operator: '==' }]] } },
    });
    const found = await call('collect', {});
    expect(found).toContain('"key":"s"');
    expect(found).not.toContain('"key":"t"');
  });
});
