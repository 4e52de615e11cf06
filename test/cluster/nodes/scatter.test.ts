// K47, K48 in a cluster: the shards of a scattered type have logs and leaders of their own, on whichever
// node; any node answers queries about the type and takes its writes.
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseUuid, computeShard } from '../../../engine/base/id.js';
import { ObjectStore } from '../../support/cluster/object-store.js';
import { Servers, patient } from '../support/servers.js';

const sources = {
  'main.hx': `V::P { name: String }
N::Note { text: String }
QUERY add(name: String, at: [F64]) => p <- AddV<P>(at, {name: name}) RETURN p::{id, name}
QUERY rename(id: ID, name: String) => p <- V<P>(id)::UPDATE({name: name}) RETURN p::{name}
QUERY drop(id: ID) =>
  DROP V<P>(id)
  RETURN NONE
QUERY one(id: ID) => RETURN V<P>(id)::{name}
QUERY near(at: [F64]) => RETURN SearchV<P>(at, 50)::{name}
QUERY note(text: String) => n <- AddN<Note>({text: text}) RETURN n::{text}
`,
};
const databases = ['', 'p-0', 'p-1'];

let servers: Servers;
let store: ObjectStore;
beforeAll(async () => {
  servers = await Servers.over(sources);
  store = await ObjectStore.open();
});
afterAll(async () => {
  await servers?.close();
  await store?.close();
});

const of = (tenant: string): Record<string, string> =>
  tenant === '' ? {} : { 'Trellis-Tenant': tenant };

async function leaderOf(node: string, tenant: string): Promise<string | undefined> {
  const { client } = servers.get(node);
  const { text } = await client.request({ method: 'GET', path: 'readyz', headers: of(tenant) });
  return JSON.parse(text).cluster?.leader?.node;
}
const leaders = async (node: string): Promise<(string | undefined)[]> => {
  const found: (string | undefined)[] = [];
  for (const tenant of databases) found.push(await leaderOf(node, tenant));
  return found;
};

test('K47 shards led by two nodes take writes and answer through each of them', async () => {
  const { url, tokenFile } = store.place('people');
  const config = {
    'cluster.log': url,
    'cluster.token_file': tokenFile!,
    'sharding.types.P': 2,
    'vectors.P.dimensions': 2,
    'vectors.P.exact': true,
  };
  const a = await servers.place('a', config);
  const b = await servers.place('b', config);
  for (const tenant of databases) {
    const more = tenant === '' ? [] : ['--tenant', tenant];
    const made = await servers.command('init', a, ...more);
    expect([made.stdout, made.stderr]).toEqual([expect.stringContaining('created the log'), '']);
  }
  cpSync(a.data, b.data, { recursive: true });
  await a.start();
  await expect.poll(() => leaders('a'), patient).toEqual(['a', 'a', 'a']);
  await b.start();
  await expect.poll(() => leaders('b'), patient).toEqual(['a', 'a', 'a']);
  const given = await servers.command('step-down', a, '--tenant', 'p-1', '--to', 'b');
  expect([given.code, given.stderr]).toEqual([0, '']);
  for (const node of ['a', 'b'])
    await expect.poll(() => leaders(node), patient).toEqual(['a', 'a', 'b']);
  const names: string[] = [];
  const ids: string[] = [];
  const refused: unknown[] = [];
  for (const node of ['a', 'b'])
    for (let i = 0; i < 6; i++) {
      const name = `${node}${i}`;
      const made = await servers.call(node, 'add', { name, at: [1, i] });
      if (made.status !== 200) refused.push([node, i, made.body]);
      else {
        names.push(name);
        ids.push(made.body.p.id);
      }
    }
  expect(refused).toEqual([]);
  expect(new Set(ids.map((id) => computeShard(parseUuid(id)!, 2))).size).toBe(2);
  for (const [i, id] of ids.entries())
    for (const node of ['a', 'b']) {
      names[i] = `${node} ${i}`;
      const renamed = await servers.call(node, 'rename', { id, name: names[i] });
      expect([node, renamed.status, renamed.body]).toEqual([node, 200, { p: { name: names[i] } }]);
      // Who has written it reads it there.
      const read = await servers.call(node, 'one', { id });
      expect([node, read.body.data]).toEqual([node, { name: names[i] }]);
    }
  // K18: with the token of the answer it is read through the other node too, at once.
  for (let round = 0; round < 40; round++) {
    const i = round % ids.length;
    const [writer, reader] = round % 3 === 0 ? ['a', 'b'] : ['b', 'a'];
    names[i] = `round ${round}`;
    const repeated = round % 4 === 0 ? { 'Idempotency-Key': `round-${round}` } : {};
    const asked = { id: ids[i], name: names[i] };
    const renamed = await servers.call(writer!, 'rename', asked, repeated);
    const shard = `p-${computeShard(parseUuid(ids[i]!)!, 2)}`;
    expect(renamed.position).toMatch(new RegExp(`^\\d+\\.\\d+,${shard}=\\d+\\.\\d+$`));
    const token = { 'Trellis-After': renamed.position };
    const read = await servers.call(reader!, 'one', { id: ids[i] }, token);
    expect([round, read.body.data]).toEqual([round, { name: names[i] }]);
    const all = await servers.call(reader!, 'near', { at: [1, 1] }, token);
    expect(all.position).toMatch(/^\d+\.\d+(,p-[01]=\d+\.\d+){2}$/);
    expect(all.body.data.map((hit: { name: string }) => hit.name)).toContain(names[i]);
    const strong = { 'Trellis-Consistency': 'strong' };
    const now = await servers.call(reader!, 'one', { id: ids[i] }, strong);
    expect([round, now.body.data]).toEqual([round, { name: names[i] }]);
  }
  // What no node has yet is not answered with less.
  const [main] = (await servers.call('a', 'note', { text: 'x' })).position.split(',');
  const never = { 'Trellis-After': `${main},p-1=1.999999` };
  const behind = await servers.call('a', 'near', { at: [1, 1] }, never);
  expect([behind.status, behind.body.code]).toEqual([503, 'SHARD_MISSING']);
  for (const text of ['1.1,p-0', 'p-0=1.x', '1.1,p-0=1.2;']) {
    const wrong = await servers.call('a', 'near', { at: [1, 1] }, { 'Trellis-After': text });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'PARAM_VALUE']);
  }
  // A repeat is answered by whichever node leads the shard by then.
  const add = (node: string) =>
    servers.call(node, 'add', { name: 'once', at: [0, 1] }, { 'Idempotency-Key': 'k' });
  const first = await add('a');
  expect(first.status).toBe(200);
  names.push('once');
  expect((await add('b')).body).toEqual(first.body);
  for (const node of ['a', 'b'])
    await expect
      .poll(async () => {
        const { body } = await servers.call(node, 'near', { at: [1, 1] });
        return body.data?.map((hit: { name: string }) => hit.name).sort() ?? body;
      }, patient)
      .toEqual(names.sort());
});
