// `trellis check` against stored data: what a start would do is said beforehand, what it would
// refuse is refused with what to write, and no path loses data.
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, root, writeProject } from '../../support/project.js';
import { commandHere } from '../../support/server/command-here.js';
import { type Server, StartFailed, startServer } from '../../support/server/server.js';

const queries = `
QUERY tools() => t <- N<Tool>::ORDER<Asc>(_::{name}) RETURN t
QUERY uses() => RETURN E<Uses>::COUNT
`;
const people = 'N::Person { name: String }\nE::Uses { From: Person, To: Tool }\n';
const first = `N::Tool { name: String, price: I32, code: String }\n${people}${queries}`;

/** The first schema with another declaration of Tool, and more. */
const withTool = (tool: string, more = people + queries) => `${tool}\n${more}`;

let server: Server;

beforeAll(async () => {
  const adding = `
QUERY add(name: String, price: I32, code: String) => t <- AddN<Tool>({ name, price, code })
  RETURN t::ID
QUERY use(tool: ID) =>
  p <- AddN<Person>({ name: "Ana" }) AddE<Uses>::From(p)::To(tool)
  RETURN "ok"
`;
  server = await startServer({ sources: { 'main.hx': first + adding } });
  const { t } = await server.client.post('add', { name: 'saw', price: 12, code: '0042' });
  await server.client.post('add', { name: 'axe', price: 7, code: 'x9' });
  await server.client.post('use', { tool: t });
  await server.stop();
});
afterAll(() => server.dispose());

/** What `check` says as JSON. */
async function check(source: string) {
  writeProject(server.project, { sources: { 'main.hx': source } });
  const argv = ['check', server.project, '--data', server.data, '--json'];
  const { code, stdout, stderr } = await commandHere(argv);
  return { code, stderr, ...JSON.parse(stdout) };
}

/** What it prints of the sources it was given last. */
const printed = async (): Promise<string> =>
  (await commandHere(['check', server.project, '--data', server.data])).stdout;

/** Starts with these sources and gives the tools; the server is stopped again. */
async function toolsUnder(source: string): Promise<Record<string, unknown>[]> {
  writeProject(server.project, { sources: { 'main.hx': source } });
  await server.start();
  const { t } = await server.client.post('tools');
  expect((await server.client.post('uses')).data).toBe(1);
  await server.stop();
  return t.map(({ id: _, label: __, ...rest }: Record<string, unknown>) => rest);
}

const both = [
  { name: 'axe', price: 7, code: 'x9' },
  { name: 'saw', price: 12, code: '0042' },
];

const parts = `N::Person { name: String } E::Uses { From: Person, To: Tool } `;
const migrated = `
schema::1 { N::Tool { name: String, price: I32, code: String } ${parts} }
schema::2 { N::Tool { INDEX name: String, price: F64, note: String } ${parts} N::Box {} }
MIGRATION schema::1 => schema::2 { N::Tool => _:: { price: price AS F64, note: "old" } }${queries}`;

const refusals: [name: string, source: string, message: RegExp, hint: RegExp][] = [
  [
    'a property whose type changed',
    withTool('N::Tool { name: String, price: F64, code: String }'),
    /Tool\.price changed from I32 to F64/,
    /MIGRATION schema::1 => schema::2 \{ N::Tool => _:: \{ price: price AS F64 \} \}/,
  ],
  [
    'properties of several types',
    withTool(
      'N::Tool { name: String, price: F64, code: U64 }',
      `N::Person { name: [String] }\nE::Uses { From: Person, To: Tool }\n${queries}`,
    ),
    /Tool\.price changed .* Tool\.code changed from String to U64 .* Person\.name changed from/,
    /name under another name.* \{ N::Tool => _:: \{ price: price AS F64, code: code AS U64 \} \}/,
  ],
  [
    'a type that does not convert',
    withTool('N::Tool { name: String, price: [I32], code: String }'),
    /Tool\.price changed/,
    /under another name/,
  ],
  [
    'ends that changed',
    first.replace('From: Person, To: Tool', 'From: Tool, To: Person'),
    /ends of E::Uses/,
    /another name/,
  ],
  [
    'a renamed type at the end of an edge',
    first.replaceAll('Tool', 'Device'),
    /ends of E::Uses/,
    /N::Tool => N::Device \{ name: name, price: price, code: code \} \}`/,
  ],
  [
    'a migration that cannot convert a value',
    `schema::1 { N::Tool { name: String, price: I32, code: String } N::Person { name: String }
       E::Uses { From: Person, To: Tool } }
     schema::2 { N::Tool { name: String, price: I32, code: U64 } N::Person { name: String }
       E::Uses { From: Person, To: Tool } }
     MIGRATION schema::1 => schema::2 { N::Tool => _:: { code: code AS U64 } }${queries}`,
    /Tool holds code, which cannot be converted,: [0-9a-f-]{36}/,
    /old sources/,
  ],
];

describe('a schema the data refuse', () => {
  for (const [name, source, message, hint] of refusals) {
    it(name, async () => {
      const { code, data, stderr } = await check(source);
      expect([code, data.status]).toEqual([1, 'refused']);
      expect(data.refusal.message).toMatch(message);
      expect(data.refusal.hint).toMatch(hint);
      expect(stderr).toMatch(/^SCHEMA_INCOMPATIBLE: /m);
      const failed = await server.start().catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(StartFailed);
      expect((failed as StartFailed).exit).toEqual({ code: 65, signal: null });
      expect((failed as StartFailed).output).toMatch(message);
      expect((failed as StartFailed).output).toMatch(hint);
    });
  }

  it('is printed, and none of them has changed anything', async () => {
    const [, source, message] = refusals.at(-1)!;
    await check(source);
    expect(await printed()).toMatch(message);
    expect(await toolsUnder(first)).toEqual(both);
  });

  it('a unique index over duplicates', async () => {
    const adding =
      'QUERY more() => t <- AddN<Tool>({ name: "saw", price: 1, code: "z" }) RETURN t::ID\n' +
      'QUERY less() => DROP N<Tool>::WHERE(_::{code}::EQ("z")) RETURN "ok"\n';
    writeProject(server.project, { sources: { 'main.hx': first + adding } });
    await server.start();
    await server.client.post('more');
    await server.stop();
    const unique = withTool('N::Tool { UNIQUE INDEX name: String, price: I32, code: String }');
    const { data } = await check(unique);
    expect(data).toMatchObject({
      status: 'refused',
      changes: ['N::Tool.name gets a unique index'],
    });
    expect(data.refusal.message).toMatch(/Tool\.name holds a value that another element has: /);
    writeProject(server.project, { sources: { 'main.hx': first + adding } });
    await server.start();
    await server.client.post('less');
    await server.stop();
    expect((await check(unique)).data.status).toBe('compatible');
  });
});

describe('a schema that fits', () => {
  it('is the same', async () => {
    const { code, data } = await check(first);
    expect([code, data]).toEqual([0, { status: 'same', from: 1, to: 1, changes: [] }]);
    expect(await printed()).toContain('data: up to date (schema::1)');
  });

  it('adds and hides, and gives back what it hid', async () => {
    const changed = `N::Tool { INDEX name: String, price: I32, weight: F64 }\n${people}${queries}`;
    const { code, data } = await check(`${changed}N::Box {}\n`);
    expect([code, data.status]).toEqual([0, 'compatible']);
    expect(data.changes.sort()).toEqual([
      'N::Box is new',
      'N::Tool.code is hidden; its values stay stored',
      'N::Tool.name gets an index',
      'N::Tool.weight: F64 is new',
      'N::Tool: its keyword index is rebuilt, 2 stored',
    ]);
    expect(await printed()).toContain('data: compatible');
    // Checking has changed nothing.
    expect((await check(first)).data.status).toBe('same');
    const { code: _, ...axe } = both[0]!;
    expect((await toolsUnder(changed))[0]).toEqual({ ...axe, weight: null });
    expect(await toolsUnder(first)).toEqual(both);
  });

  it('is sent to the server that has the data open, which keeps its version', async () => {
    writeProject(server.project, { sources: { 'main.hx': first } });
    // Not the served folder: that one is watched.
    const other = join(makeFolder(), 'other');
    mkdirSync(other);
    const beside = async (source: string, ...more: string[]) => {
      writeProject(other, { sources: { 'main.hx': source } });
      const argv = ['check', other, '--data', server.data, '--json', ...more];
      const { code, stdout } = await commandHere(argv);
      return { code, ...JSON.parse(stdout) };
    };
    const changed = withTool('N::Tool { UNIQUE INDEX name: String, price: I32, weight: F64 }');
    const asked = [first, changed, migrated, refusals.at(-1)![1]];
    const offline = [];
    for (const source of asked) offline.push((await check(source)).data);
    writeProject(server.project, { sources: { 'main.hx': first } });
    await server.start({ env: { TRELLIS_API_KEY: 'an administrator' } });
    const headers = { 'x-api-key': 'an administrator' };
    const tools = () => server.client.post('tools', {}, headers);
    const before = await tools();
    for (const [i, source] of asked.entries()) {
      const { code, diagnostics, data } = await beside(source, '--key', 'an administrator');
      expect([diagnostics, data]).toEqual([[], offline[i]]);
      expect(code).toBe(data.status === 'refused' ? 1 : 0);
    }
    const keyless = await beside(first);
    expect([keyless.code, keyless.data.status]).toEqual([0, 'unknown']);
    expect(keyless.data.message).toMatch(/key.* --key/);
    const faulty = await beside('QUERY a() => RETURN nope');
    expect([faulty.code, faulty.data]).toEqual([1, undefined]);
    // Three trials later the data and their indexes are what they were.
    expect(await tools()).toEqual(before);
    const verified = await server.client.post('_admin/verify', {}, headers);
    expect(verified).toEqual({ clean: true, violations: [] });
    await server.stop();
    expect(await toolsUnder(first)).toEqual(both);
  });

  it('migrates, and says so before', async () => {
    const { code, data } = await check(migrated);
    expect([code, data.status, data.from, data.to]).toEqual([0, 'migrates', 1, 2]);
    expect(data.changes).toEqual([
      'MIGRATION schema::1 => schema::2',
      '  N::Tool { price: price AS F64, note: "old", name: name }, 2 stored, loses code',
      'N::Box is new',
    ]);
    expect(await printed()).toContain('data: the next start migrates (schema::1 => schema::2)');
    expect(await toolsUnder(first)).toEqual(both);
    expect(await toolsUnder(migrated)).toEqual([
      { name: 'axe', price: 7, note: 'old' },
      { name: 'saw', price: 12, note: 'old' },
    ]);
    expect((await check(migrated)).data.status).toBe('same');
  });
});

it('refuses while its threads still load, and the process lives on', async () => {
  const text = withTool('N::Tool { name: String, price: Boolean, code: String }');
  const options = { dataDir: server.data, sources: [{ path: 'main.hx', text }], workers: 6 };
  const script = `
const { open } = await import(${JSON.stringify(join(root, 'dist/bin/index.js'))});
for (let i = 0; i < ${process.env.TRELLIS_TEST_LONG === '1' ? 60 : 3}; i++) {
  await open(${JSON.stringify(options)}).catch(({ code }) => console.log(code));
}`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
  expect(new Set(stdout.trim().split('\n'))).toEqual(new Set(['SCHEMA_INCOMPATIBLE']));
});
