// Explained and profiled queries on real servers: inline, in a reader lane, in the writer lane; the required
// role; and `trellis explain` with and without a running server.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandHere } from '../../support/server/command-here.js';
import { type Server, startServer } from '../../support/server/server.js';

const source = `
N::Person { UNIQUE INDEX name: String, INDEX age: U8 }
E::Knows { From: Person, To: Person }
QUERY add(name: String, age: U8) => p <- AddN<Person>({ name, age }) RETURN p::ID
QUERY link(a: ID, b: ID) => AddE<Knows>::From(a)::To(b) RETURN "ok"
QUERY person(name: String) => p <- N<Person>({ name: name }) RETURN p::{name, age}
QUERY between(low: U8, high: U8) =>
  p <- N<Person>::WHERE(AND(_::{age}::GTE(low), _::{age}::LT(high), _::{name}::NEQ("Cy")))
  RETURN p::{name}
QUERY known(name: String) => RETURN N<Person>({ name: name })::Out<Knows>::ORDER<Asc>(_::{age})
QUERY search(text: String) => RETURN SearchBM25<Person>(text, 3)::{name}
`;

let server: Server;
const ids: string[] = [];

beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': source } });
  for (const [name, age] of [
    ['Ana', 30],
    ['Bo', 40],
    ['Cy', 35],
    ['Di', 50],
  ] as const) {
    ids.push((await server.client.post('add', { name, age })).p);
  }
  await server.client.post('link', { a: ids[0], b: ids[1] });
  await server.client.post('link', { a: ids[0], b: ids[2] });
});
afterAll(() => server.dispose());

/** Everything but times, which differ from run to run. */
const timeless = (text: unknown) =>
  JSON.parse(JSON.stringify(text, (key, value) => (key === 'micros' ? undefined : value)));

describe('?explain=1', () => {
  it('answers the plan and does not run the query', async () => {
    expect(await server.client.post('between?explain=1', {})).toEqual({
      query: 'between',
      cost: 'B',
      writes: false,
      statements: ['return p: project #1 as $5 {name: $5.name}'],
      pipelines: [
        {
          id: 1,
          result: 'many',
          steps: [
            { text: 'find N<Person> by index age >= @low < @high', estimated: 1, of: 4 },
            { text: 'where $0: ($0.name NEQ "Cy")', estimated: 1 },
          ],
        },
      ],
    });
    const plan = await server.client.post('add?explain=1&x=2', {});
    expect(plan).toMatchObject({ query: 'add', cost: 'W', writes: true });
    expect((await server.client.post('person', { name: 'Ana' })).p).toEqual({
      name: 'Ana',
      age: 30,
    });
  });

  it('is requested by no other parameter of the query string', async () => {
    for (const query of ['?explain=0', '?x=explain', '?', '?explain']) {
      const { p } = await server.client.post(`person${query}`, { name: 'Bo' });
      expect(p.age).toBe(40);
    }
  });
});

describe('?profile=1', () => {
  it('counts rows step by step next to the same reply', async () => {
    for (const [query, body] of [
      ['person', { name: 'Ana' }],
      ['between', { low: 30, high: 45 }],
      ['known', { name: 'Ana' }],
      ['search', { text: 'cy' }],
    ] as const) {
      const { result, profile } = await server.client.post(`${query}?profile=1`, body);
      expect(result).toEqual(await server.client.post(query, body));
      expect(profile.query).toBe(query);
      expect(profile.micros).toBeGreaterThan(0);
    }
    const { profile } = await server.client.post('between?profile=1', { low: 30, high: 45 });
    expect(timeless(profile.pipelines[0].steps)).toEqual([
      { text: 'find N<Person> by index age >= @low < @high', estimated: 1, of: 4, rows: 3 },
      { text: 'where $0: ($0.name NEQ "Cy")', estimated: 1, rows: 2 },
    ]);
    const known = await server.client.post('known?profile=1', { name: 'Ana' });
    const rows = known.profile.pipelines[0].steps.map((step: { rows: number }) => step.rows);
    expect(rows).toEqual([1, 2, 2]);
  });

  it('runs writes in the writer lane, durably', async () => {
    const { result, profile } = await server.client.post('add?profile=1', { name: 'Ed', age: 9 });
    expect(profile).toMatchObject({ query: 'add', writes: true });
    const { p } = await server.client.post('person', { name: 'Ed' });
    expect([p.age, result.p.length]).toEqual([9, 36]);
  });

  it('fails as the query does', async () => {
    const missing = await server.client.request({ path: 'person?profile=1', body: '{}' });
    expect([missing.status, JSON.parse(missing.text).code]).toEqual([400, 'PARAM_MISSING']);
    const none = await server.client.request({ path: 'person?profile=1', body: '{"name":"Zoe"}' });
    expect([none.status, JSON.parse(none.text).code]).toEqual([404, 'NO_VALUE_FOUND']);
  });
});

describe('keys', () => {
  it('plans are for administrators', async () => {
    const data = join(server.folder, 'data');
    const keys: Record<string, string> = {};
    for (const role of ['read', 'admin']) {
      const argv = ['keys', 'add', role, '--role', role, server.project, '--data', data];
      keys[role] = (await commandHere(argv)).stdout.trim();
    }
    await server.restart();
    const ask = async (role: string, path: string) =>
      (
        await server.client.request({
          path,
          body: '{"name":"Bo"}',
          headers: { 'x-api-key': keys[role]! },
        })
      ).status;
    expect(await ask('read', 'person')).toBe(200);
    expect(await ask('read', 'person?explain=1')).toBe(403);
    expect(await ask('read', 'person?profile=1')).toBe(403);
    expect(await ask('admin', 'person?explain=1')).toBe(200);
    expect(await ask('admin', 'person?profile=1')).toBe(200);
  });
});

describe('trellis explain', () => {
  const explain = (...more: string[]) =>
    commandHere(['explain', server.project, ...more, '--data', join(server.folder, 'data')]);

  it('prints a plan; without estimates while a server runs', async () => {
    const { code, stdout, stderr } = await explain('between');
    expect(code).toBe(0);
    expect(stdout).toBe(
      'between  cost B\n' +
        '  return p: project #1 as $5 {name: $5.name}\n' +
        '#1  many\n' +
        '    find N<Person> by index age >= @low < @high\n' +
        '  | where $0: ($0.name NEQ "Cy")\n',
    );
    expect(stderr).toContain('POST /between?explain=1');
  });

  it('estimates from data at rest', async () => {
    await server.stop();
    const { code, stdout, stderr } = await explain('known', '--json');
    expect([code, stderr]).toEqual([0, '']);
    const steps = JSON.parse(stdout).pipelines[0].steps;
    expect(steps.map((step: { estimated: number }) => step.estimated)).toEqual([1, 1, 1]);
    expect((await explain('known')).stdout).toMatch(/by|lookup .* ~1 row\n/);
  });

  it('refuses what it does not know', async () => {
    const { code, stderr } = await explain('persn');
    expect(code).toBe(78);
    expect(stderr).toContain('person');
    expect((await commandHere(['explain'])).code).toBe(78);
  });
});
