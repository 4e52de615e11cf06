// `/openapi.json`, `trellis types` and `trellis openapi` through the real program.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Program } from '../../engine/internal.js';
import { errorCodes } from '../../engine/base/errors.js';
import { buildOpenApi } from '../../engine/contract/openapi.js';
import {
  serializeSignatures,
  deserializeSignatures,
} from '../../engine/database/call/serialized-signature.js';
import { compile } from '../../engine/lang/compile.js';
import { type Caller, scopeNames } from '../../server/auth/keys.js';
import { openApiReplies } from '../../server/handlers/openapi.js';
import type { Exchange } from '../../server/http/exchange.js';
import type { Reply } from '../../server/pipeline/router.js';
import { documentOf } from '../../server/openapi/document.js';
import { root, sourcesOf } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { type Server, startServer } from '../support/server/server.js';

let server: Server;
const sources = {
  'main.hx': `
N::Person { UNIQUE INDEX key: String, born: I64, named: Date DEFAULT NOW }
E::Knows { From: Person, To: Person }
// Adds a person. They know nobody yet.
//   key: a short name
QUERY add(key: String, born?: I64) => p <- AddN<Person>({ key: key, born: born }) RETURN p
#[mcp]
QUERY friends(key: String) => p <- N<Person>({ key: key })::Out<Knows> RETURN p::{key, born}
`,
};

beforeAll(async () => {
  server = await startServer({ sources });
});
afterAll(() => server.dispose());

test('the document names every query with its types', async () => {
  const { text } = await server.client.request({ path: 'openapi.json', method: 'GET' });
  const document = JSON.parse(text);
  expect(document.openapi).toBe('3.1.1');
  const { add, friends } = {
    add: document.paths['/add'].post,
    friends: document.paths['/friends'].post,
  };
  expect(add).toMatchObject({
    operationId: 'add',
    summary: 'Adds a person.',
    requestBody: { required: true },
    'x-trellis': { writes: true, mcp: false },
  });
  expect(add.requestBody.content['application/json'].schema).toEqual({
    type: 'object',
    properties: {
      key: { type: 'string', description: 'a short name' },
      born: {
        anyOf: [
          { type: ['integer', 'string'], format: 'int64', pattern: '^-?(0|[1-9][0-9]*)$' },
          { type: 'null' },
        ],
      },
    },
    required: ['key'],
    additionalProperties: false,
  });
  expect(friends.responses['200'].content['application/json'].schema).toEqual({
    type: 'object',
    properties: {
      p: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            key: { type: ['string', 'null'] },
            born: { type: ['integer', 'null'], format: 'int64' },
          },
          required: ['key', 'born'],
          additionalProperties: false,
        },
      },
    },
    required: ['p'],
    additionalProperties: false,
  });
  expect([add.tags, document.tags]).toEqual([['main.hx'], [{ name: 'main.hx' }]]);
  // No query gives one as a whole.
  expect(document.components.schemas.Knows.properties.label).toEqual({ const: 'Knows' });
  expect(document.components.schemas.Person.required).toEqual([
    'id',
    'label',
    'key',
    'born',
    'named',
  ]);
  // Every reference leads somewhere.
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    expect(document.components.schemas).toHaveProperty([name!]);
  }
});

test('K37 the document names every error code', async () => {
  const { text } = await server.client.request({ path: 'openapi.json', method: 'GET' });
  const { code } = JSON.parse(text).components.schemas.Error.properties;
  expect(code.enum).toEqual(errorCodes);
});

test('every path of the document is served, and every path that the manual names stands in it', async () => {
  const { paths } = JSON.parse(
    (await server.client.request({ path: 'openapi.json', method: 'GET' })).text,
  );
  const manual = readFileSync(join(root, 'server/docs/reference/http.md'), 'utf8');
  const named = [...manual.matchAll(/^### (?:GET|POST) (\/[\w./-]+)$/gm)]
    .map(([, path]) => path!)
    .filter((path) => !/^\/_explore|\/$/.test(path));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !Object.hasOwn(paths, path))).toEqual([]);
  for (const [path, operations] of Object.entries<object>(paths)) {
    for (const method of Object.keys(operations)) {
      // Of what takes time or is of a cluster that there is a route will do: by the wrong method.
      const ask = { path: path.slice(1), method: method === 'get' ? 'POST' : 'GET' };
      const { status, headers } = await server.client.request(ask);
      expect([path, status, headers.get('allow')]).toEqual([
        path,
        405,
        method === 'get' ? 'GET, HEAD' : 'POST',
      ]);
    }
  }
});

test('types named like a part of the document, or like a form of another type, are distinct', () => {
  const text = readFileSync(join(root, 'test/contract/odd.hx'), 'utf8');
  const { program } = compile([{ path: 'odd.hx', text }], { compat: false });
  const about = { title: 'x', version: '1', keys: false, admin: true };
  // biome-ignore lint/suspicious/noExplicitAny: a document is read as callers read it
  const { paths, components } = documentOf(program!, about) as any;
  const itemOf = (name: string): string =>
    paths[`/${name}`].post.responses[200].content['application/json'].schema.properties[
      name === 'errors' ? 'e' : 'found'
    ].items.$ref
      .split('/')
      .at(-1);
  const bodyOf = (name: string) => components.schemas[itemOf(name)].properties;
  expect(Object.keys(bodyOf('errors'))).toEqual(['id', 'label', 'code', 'at']);
  expect(Object.keys(components.schemas.Error.properties)).toContain('request_id');
  const labels = ['notes', 'others', 'plainOthers'].map((name) => bodyOf(name).label.const);
  expect(labels).toEqual(['Note', 'Note_hit', 'Note_hit']);
  expect(Object.keys(bodyOf('notes'))).toContain('score');
  expect(Object.keys(bodyOf('plainOthers'))).not.toContain('score');
  expect(Object.keys(paths['/version'])).toEqual(['get', 'post']);
  const names = Object.values<object>(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(new Set(names).size).toBe(names.length);
});

test('a key limited to some queries sees those, an administrator sees everything', async () => {
  const program = compile([{ path: 'a.hx', text: Object.values(sources)[0]! }], { compat: false })
    .program!;
  const about = { title: 'x', version: '1', keys: true };
  const scoped = documentOf(program, { ...about, admin: false, sees: (name) => name === 'add' });
  expect(Object.keys(scoped.paths as object)).toEqual([
    '/add',
    '/livez',
    '/healthz',
    '/readyz',
    '/version',
    '/openapi.json',
    '/introspect',
  ]);
  const plain = Object.keys(documentOf(program, { ...about, admin: false }).paths as object);
  expect(plain).toContain('/mcp/friendsMcp');
  expect(plain.filter((path) => path.startsWith('/_admin'))).toEqual([]);
});

test('the document of one scope is created one time per program, and no other scope gets it', () => {
  const compiled = (text: string): Program =>
    compile([{ path: 'a.hx', text }], { compat: false }).program!;
  let program = compiled(Object.values(sources)[0]!);
  let keys = true;
  const reply = openApiReplies({
    version: '1',
    title: 'x',
    hasKeys: () => keys,
    database: () => ({ program }) as unknown as Database,
  });
  const asked = { ifNoneMatch: '' } as unknown as Exchange;
  const scopes = [undefined, ['add'], ['a*'], ['add', 'friends'], ['add,friends'], []];
  const callers = scopes.flatMap((queries) =>
    (['read', 'write', 'admin'] as const).map(
      (role): Caller => ({ keyId: 'k', role, ...(queries && { queries }) }),
    ),
  );
  const bodies = () => callers.map((caller) => (reply(asked, caller) as Reply).body);
  const first = bodies();
  for (const [i, body] of bodies().entries()) expect(body).toBe(first[i]);
  // As made for each alone.
  callers.forEach(({ role, queries: scope }, i) => {
    const admin = role === 'admin' && scope === undefined;
    const sees = (name: string): boolean => scopeNames(scope!, name);
    const given = { title: 'x', version: '1', keys, admin, ...(scope && { sees }) };
    expect(String(first[i])).toBe(JSON.stringify(documentOf(program, given)));
  });
  keys = false;
  expect(bodies()[0]).not.toEqual(first[0]);
  program = compiled('QUERY other() => RETURN 1');
  for (const body of bodies()) expect(String(body)).not.toContain('friends');
});

test('the document has a tag, by which it is fetched only when it is another', async () => {
  const ask = (headers: Record<string, string> = {}) =>
    server.client.request({ path: 'openapi.json', method: 'GET', headers });
  const first = await ask();
  const tag = first.headers.get('etag')!;
  expect(tag).toMatch(/^"[\w-]{22}"$/);
  for (const known of [tag, `W/${tag}`, `"x", ${tag}`]) {
    const again = await ask({ 'If-None-Match': known });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
  }
  expect((await ask({ 'If-None-Match': '"x"' })).text).toBe(first.text);
});

test('the commands print the same without a server, and say when a file is old', async () => {
  const run = (...args: string[]) => commandHere([...args, '--project', server.project]);
  const { stdout } = await run('openapi');
  const { text } = await server.client.request({ path: 'openapi.json', method: 'GET' });
  expect(JSON.parse(stdout).paths).toEqual(JSON.parse(text).paths);
  expect((await run('types', '--check')).code).toBe(1);
  expect((await run('types')).code).toBe(0);
  expect((await run('types', '--check')).code).toBe(0);
  const generated = readFileSync(join(server.project, 'trellis.gen.ts'), 'utf8');
  expect(generated).toContain('friends(params: FriendsParams');
  expect((await run('types', '--int64', 'float')).code).toBe(78);
});

test('integers of 64 bits say so, smaller ones their range, larger ones neither', () => {
  const names = ['I8', 'I16', 'I32', 'I64', 'U8', 'U16', 'U32', 'U64', 'U128'];
  const members = names.map((name) => `${name.toLowerCase()}: ${name}`).join(', ');
  const given = names.map((name) => `${name.toLowerCase()}: ${name.toLowerCase()}`).join(', ');
  const text = `N::Of { ${members} }\nQUERY add(${members}) => o <- AddN<Of>({ ${given} }) RETURN o`;
  const { program } = compile([{ path: 'a.hx', text }], { compat: false });
  const about = { title: 'x', version: '1', keys: false, admin: true };
  // biome-ignore lint/suspicious/noExplicitAny: a document is read as callers read it
  const { paths, components } = documentOf(program!, about) as any;
  const taken = paths['/add'].post.requestBody.content['application/json'].schema.properties;
  const told = components.schemas.Of.properties;
  for (const name of names) {
    const format = /64/.test(name) ? 'int64' : undefined;
    const [one, other] = [taken[name.toLowerCase()], told[name.toLowerCase()]];
    expect([name, one.format, other.format]).toEqual([name, format, format]);
    const bits = Number(name.slice(1));
    const most = 2 ** (name.startsWith('I') ? bits - 1 : bits) - 1;
    expect([name, one.maximum]).toEqual([name, bits < 64 ? most : undefined]);
    expect([name, one.type]).toEqual([name, bits < 64 ? 'integer' : ['integer', 'string']]);
  }
});

test('another thread creates the document of many queries, one time for all that wait, with the same content', async () => {
  const compiled = (count: number): Program => {
    const queries = Array.from({ length: count }, (_, i) => {
      return `QUERY q${i}(key: String, n: I64) => x <- N<A>({key: key}) y <- N<A>::RANGE(0, n) RETURN x, y::{key}`;
    });
    const text = `N::A { UNIQUE INDEX key: String }\n${queries.join('\n')}`;
    return compile([{ path: 'a.hx', text }], { compat: false }).program!;
  };
  let program = compiled(300);
  const about = { version: '1', title: 'x' };
  const database = (): Database => ({ program }) as unknown as Database;
  const reply = openApiReplies({ ...about, hasKeys: () => true, database });
  const asked = { ifNoneMatch: '' } as unknown as Exchange;
  const caller: Caller = { keyId: 'k', role: 'read', queries: ['q1*'] };
  const told = (document: object): string => JSON.stringify(document);
  const settings = { ...about, keys: true, admin: false };
  const scope = { ...settings, sees: (name: string) => name.startsWith('q1') };
  const making = [undefined, undefined, caller].map((one) => reply(asked, one));
  for (const one of making) expect(one).toBeInstanceOf(Promise);
  const [first, second, scoped] = await Promise.all(making);
  expect(second!.body).toBe(first!.body);
  const whole = told(documentOf(program, { ...settings, admin: true }));
  expect(String(first!.body) === whole).toBe(true);
  expect(String(scoped!.body) === told(documentOf(program, scope))).toBe(true);
  expect((reply(asked, caller) as Reply).body).toBe(scoped!.body);
  // A program that comes meanwhile: who has asked before has what was, who asks afterwards what is.
  const before = (program = compiled(250)) && reply(asked, undefined);
  program = compiled(200);
  const paths = (of: Reply) => Object.keys(JSON.parse(String(of.body)).paths);
  const [older, newer] = await Promise.all([before, reply(asked, undefined)]);
  expect([paths(older).includes('/q249'), paths(newer).includes('/q249')]).toEqual([true, false]);
  expect((reply(asked, undefined) as Reply).body).toBe(newer.body);
});

const withAll = (_: string, part: unknown): unknown =>
  part instanceof Map ? [...part] : typeof part === 'bigint' ? `${part}n` : part;

test.each([
  'server/demo',
  'server/template/graphrag',
  'test/exec/support/garden.hx',
  'test/contract/odd.hx',
])('shapes of %s that the document contains one time equal the repeated ones', (place) => {
  const { program } = compile(sourcesOf(place), { compat: false });
  const about = { title: 'x', version: '1', keys: true, sees: () => true };
  // biome-ignore lint/suspicious/noExplicitAny: a document is read as callers read it
  const document = buildOpenApi(program!, { ...about, shared: true }) as any;
  const { schemas } = document.components;
  const shapes = Object.keys(schemas).filter((name) => name.startsWith('shape-'));
  for (const name of shapes) expect(name).toMatch(/^shape-[0-9a-f]{12}$/);
  const whole = (_: string, value: { $ref?: string }) => {
    const name = value?.$ref?.split('/').at(-1) ?? '';
    return name.startsWith('shape-') ? schemas[name] : value;
  };
  const { components, ...rest } = JSON.parse(JSON.stringify(document, whole));
  const kept = Object.entries(components.schemas).filter(([name]) => !shapes.includes(name));
  const plain = JSON.parse(JSON.stringify(buildOpenApi(program!, { ...about, shared: false })));
  expect({ ...rest, components: { ...components, schemas: Object.fromEntries(kept) } }).toEqual(
    plain,
  );
  expect(JSON.stringify(document).length).toBeLessThanOrEqual(JSON.stringify(plain).length);
  // Of what the thread that prints is given, the same bytes: parts that are alike are one object there.
  const told = deserializeSignatures(serializeSignatures(program!));
  for (const shared of [false, true]) {
    const settings = { ...about, types: true, shared };
    expect(JSON.stringify(buildOpenApi(told, settings))).toBe(
      JSON.stringify(buildOpenApi(program!, settings)),
    );
  }
  const objects = new Set(told.queries.flatMap(({ plan, output }) => [plan, output]));
  const texts = new Set([...objects].map((part) => JSON.stringify(part, withAll)));
  expect(objects.size).toBe(texts.size);
  // Of each name there is use, and each time there is one it is there.
  const used = new Set(
    [...JSON.stringify(document).matchAll(/schemas\/(shape-\w+)/g)].map(([, name]) => name),
  );
  expect([...used].sort()).toEqual(shapes.sort());
});

test('ten thousand similar queries have a document of at most 8 MiB', () => {
  const count = process.env.TRELLIS_TEST_LONG === '1' ? 10_000 : 1_200;
  const types = Array.from(
    { length: 100 },
    (_, i) => `N::T${i} { UNIQUE INDEX key: String, a: I64, c: Date }`,
  );
  const queries = Array.from({ length: count }, (_, i) => {
    const [one, other] = [`T${i % 100}`, `T${(i * 7 + 3) % 100}`];
    return `QUERY q${i}(key: String, from?: I64, tags: [String]) =>
  x <- N<${one}>({key: key})
  y <- N<${other}>::WHERE(_::{a}::GT(from))::RANGE(0, 10)
  RETURN x, y::{key, a, named: {c, key}}`;
  });
  const texts = [
    types,
    ...Array.from({ length: 20 }, (_, i) => queries.filter((_, at) => at % 20 === i)),
  ];
  const sources = texts.map((lines, i) => ({ path: `${i}.hx`, text: lines.join('\n') }));
  const { program } = compile(sources, { compat: false });
  const document = documentOf(program!, { title: 'x', version: '1', keys: true, admin: true });
  expect(JSON.stringify(document).length).toBeLessThanOrEqual((count * 8 * 1024 * 1024) / 10_000);
  // The thread that prints it is given little: unpacking the plans took longer than printing.
  expect(serializeSignatures(program!).length).toBeLessThan(count * 80);
});
