// K47: the shards of a sharded type have one program, as one database has. A reload applies to all or none,
// and while they differ, no result combines parts of two programs.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  Gatherer,
  type Program,
  compile,
  defaultLimits,
  openDatabase,
  shardProgram,
} from '../../engine/internal.js';
import { type RunningTenants, startTenants } from './running-tenants.js';

const sourceOf = (type: string, shown: string): string => `
  V::P { n: ${type} }
  QUERY near(at: [F64]) => RETURN SearchV<P>(at, 10)::{ ${shown} }
  QUERY add(at: [F64], n: ${type}) => made <- AddV<P>(at, { n: n }) RETURN made::{ id }
  QUERY other() => RETURN "other"`;
const programOf = (type: string, shown: string): Program =>
  compile([{ path: 'main.hx', text: sourceOf(type, shown) }], {
    compat: false,
    scattered: new Set(['P']),
  }).program!;
const before = sourceOf('String', 'n');

let server: RunningTenants;
const near = async (): Promise<[number, unknown]> => {
  const { status, text } = await server.post('/near', { at: [1, 2] });
  const told = JSON.parse(text);
  return [status, status === 200 ? told.data.length : told.code];
};

beforeAll(async () => {
  server = await startTenants(before, openDatabase, {
    'vectors.P.dimensions': '2',
    'sharding.types.P': '2',
    // Longer than a reload takes on a machine with other work.
    'cluster.wait_timeout': '4s',
    'storage.ballast': '0',
    'server.workers': '1',
  });
  // One has data, the other has none.
  const row = JSON.stringify({ vector: 'P', values: [1, 2], properties: { n: 'a' } });
  const headers = { 'Content-Type': 'application/x-ndjson', 'Trellis-Tenant': 'p-0' };
  expect((await server.send('/_admin/import', row, headers)).status).toBe(200);
});
afterAll(() => server?.close());

it('K47 a program that one shard would refuse is taken by none', async () => {
  await expect(server.app.tryShards(programOf('I64', 'n'))).rejects.toMatchObject({
    data: { code: 'SCHEMA_INCOMPATIBLE', args: { what: expect.stringMatching(/^p-0: /) } },
  });
  await server.app.tryShards(programOf('String', 'n, more: 1'));
  expect(await near()).toEqual([200, 1]);
});

it('K47 parts of two programs are no answer; those that differ for a moment are waited for', async () => {
  // Without having asked: one takes it, the other keeps its own.
  await server.app.reloadTenants(programOf('I64', 'm: _::{n}'));
  const [read, write, other] = await Promise.all([
    near(),
    server.post('/add', { at: [1, 2], n: 'b' }),
    server.post('/other', {}),
  ]);
  expect([read, write.status, other.status]).toEqual([[409, 'PROGRAM_CHANGED'], 409, 200]);
  const next = programOf('String', 'n');
  const waiting = near();
  await server.app.reloadTenants(next);
  expect(await waiting).toEqual([200, 1]);
  // A program that says the same of it, compiled on its own.
  await server.app.reloadTenants(programOf('String', 'n'));
  expect(await near()).toEqual([200, 1]);
});

it('K47 nor are those of a program that arrives in between', async () => {
  const [here, there] = [programOf('String', 'n'), programOf('String', 'm: _::{n}')];
  const query = here.queries.find(({ name }) => name === 'near')!;
  const answer = Buffer.from('{"0.k0":10,"0.l0":[]}');
  const gather = (next: Program) => {
    const place = { program: shardProgram(here, 'P'), call: () => answer };
    const late = { ...place };
    late.call = () => {
      late.program = shardProgram(next, 'P');
      return answer;
    };
    const gatherer = new Gatherer({
      shards: () => [[place], [late]],
      limits: defaultLimits,
      embed: async () => [],
      claim: () => answer,
      hedgeMs: 1_000,
      waitMs: 0,
    });
    return gatherer.call(query, Buffer.from('{"at":[1,2]}'));
  };
  await expect(gather(there)).rejects.toMatchObject({ data: { code: 'PROGRAM_CHANGED' } });
  expect(Buffer.from(await gather(programOf('String', 'n'))).toString()).toBe('{"data":[]}');
});
