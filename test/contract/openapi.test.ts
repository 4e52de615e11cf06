// `/openapi.json`, `trellis types` and `trellis openapi` through the real program (client.md 3, 4).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli, type Server, startServer } from '../support/server/server.js';

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
  const run = (...args: string[]) => runCli([...args, '--project', server.project]);
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
