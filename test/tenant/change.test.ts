// Tenants that are added and dropped while a server runs, and without one: no restart, and nothing of a dropped tenant
// is left for the next one of its name.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeProject } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { type Server, startServer } from '../support/server/server.js';

const source = `N::Person { name: String }
QUERY add(name: String) => p <- AddN<Person>({ name: name }) RETURN p::{name}
QUERY all() => p <- N<Person> RETURN p::{name}
`;

let server: Server;
beforeAll(async () => {
  server = await startServer({
    sources: { 'main.hx': source },
    toml: '[tenants.databases]\nfixed = ""\n',
    env: { TRELLIS_SERVER_HTTP_THREADS: '2' },
    args: ['--watch'],
  });
});
afterAll(() => server.dispose());

const tenants = (...argv: string[]) =>
  commandHere(['tenants', ...argv, '--project', server.project, '--data', server.data]);

async function call(tenant: string, query: string, body: object = {}) {
  const reply = await fetch(`http://127.0.0.1:${server.port}/${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(tenant && { 'Trellis-Tenant': tenant }) },
    body: JSON.stringify(body),
  });
  const value = (await reply.json()) as { code?: string; p?: { name: string }[] };
  return value.code ?? value.p;
}

const states = async () => JSON.parse((await tenants('list', '--json')).stdout).tenants;

describe('a running server', () => {
  it('serves a tenant as soon as it is added, and its data are its own', async () => {
    expect(await call('acme', 'all')).toBe('TENANT_UNKNOWN');
    const added = await tenants('add', 'acme');
    expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/^Added acme\./)]);
    for (let i = 0; i < 4; i++) await call('acme', 'add', { name: `a${i}` });
    expect(await call('acme', 'all')).toHaveLength(4);
    expect(await call('', 'all')).toEqual([]);
    expect(await call('fixed', 'all')).toEqual([]);
    expect(await states()).toEqual([
      { name: 'fixed', state: 'open', source: 'configuration' },
      { name: 'acme', state: 'open', source: 'added' },
    ]);
  });

  it('gives a later tenant the queries of the last reload', async () => {
    const next = `${source}QUERY count() => RETURN N<Person>::COUNT\n`;
    writeProject(server.project, { sources: { 'main.hx': next } });
    await expect.poll(() => call('', 'count')).not.toBe('NOT_FOUND');
    expect((await tenants('add', 'late')).code).toBe(0);
    expect(await call('late', 'count')).not.toBe('NOT_FOUND');
    expect((await tenants('drop', 'late', '--yes')).code).toBe(0);
  });

  it('keeps an added tenant over a restart', async () => {
    await server.stop();
    expect(await states()).toEqual([
      { name: 'fixed', state: 'closed', source: 'configuration' },
      { name: 'acme', state: 'closed', source: 'added' },
    ]);
    await server.start();
    expect(await call('acme', 'all')).toHaveLength(4);
  });

  it('drops a tenant and its data, while calls of it are under way', async () => {
    const refused = await tenants('drop', 'acme');
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining('Add --yes')]);
    const underway = Array.from({ length: 20 }, (_, i) => call('acme', 'add', { name: `b${i}` }));
    const dropped = await tenants('drop', 'acme', '--yes');
    expect([dropped.code, dropped.stderr]).toEqual([0, '']);
    for (const reply of await Promise.all(underway))
      expect(typeof reply === 'string' ? reply : 'done').toMatch(
        /^(TENANT_UNKNOWN|NOT_READY|SHUTTING_DOWN|done)$/,
      );
    expect(await call('acme', 'all')).toBe('TENANT_UNKNOWN');
    expect(existsSync(join(server.data, 'tenants/acme'))).toBe(false);
    expect((await tenants('add', 'acme')).code).toBe(0);
    expect(await call('acme', 'all')).toEqual([]);
  });

  const refusals: [argv: string[], line: RegExp][] = [
    [['add', 'acme'], /^PARAM_VALUE: `name` must be a name that no database has, got "acme"/],
    [['add', 'fixed'], /^PARAM_VALUE: /],
    [['add', '../x'], /^PARAM_VALUE: `name` must be at most 63 lower-case letters/],
    [['add', 'UP'], /^PARAM_VALUE: /],
    [['add', 'x.dropped'], /^PARAM_VALUE: /],
    [['drop', 'nobody', '--yes'], /^TENANT_UNKNOWN: /],
    [['drop', 'fixed', '--yes'], /^PARAM_VALUE: `name` must be a tenant that was added/],
    [['add', 'old'], /^PARAM_VALUE: `name` must be a name without data: tenants.old exists/],
    [['add'], /^CONFIG_INVALID: trellis tenants add: a name is needed/],
    [[], /^CONFIG_INVALID: trellis tenants: one of add, list, drop is needed/],
  ];
  it.each([true, false])('refuses what it cannot do (server runs: %s)', async (runs) => {
    if (!runs) await server.stop();
    mkdirSync(join(server.data, 'tenants/old'), { recursive: true });
    const before = await states();
    for (const [argv, line] of refusals) {
      const { code, stderr } = await tenants(...argv);
      expect([argv, code === 0, stderr]).toEqual([argv, false, expect.stringMatching(line)]);
    }
    expect(await states()).toEqual(before);
  });

  it('without a server, changes the file', async () => {
    expect((await tenants('add', 'idle')).code).toBe(0);
    expect((await tenants('drop', 'acme', '--yes')).code).toBe(0);
    expect((await states()).map(({ name }: { name: string }) => name)).toEqual(['fixed', 'idle']);
    await server.start();
    expect(await call('idle', 'all')).toEqual([]);
    expect(await call('acme', 'all')).toBe('TENANT_UNKNOWN');
  });
});

it('a server without tenants takes its first one, on every thread', async () => {
  const plain = await startServer({
    sources: { 'main.hx': source },
    env: { TRELLIS_SERVER_HTTP_THREADS: '2' },
  });
  try {
    const argv = ['--project', plain.project, '--data', plain.data];
    const address = `http://127.0.0.1:${plain.port}`;
    const ask = async (key: string, path = 'all', body = '{}') => {
      const headers = { 'Content-Type': 'application/json', 'x-api-key': key, Connection: 'close' };
      const reply = await fetch(`${address}/${path}`, { method: 'POST', headers, body });
      return [reply.status, await reply.json()];
    };
    expect((await commandHere(['tenants', 'add', 'acme', ...argv])).code).toBe(0);
    const add = ['keys', 'add', 'one', '--role', 'admin', '--tenant', 'acme', ...argv];
    const key = (await commandHere(add)).stdout.trim();
    // The key names the tenant: no header is needed, whichever thread has the connection.
    await expect.poll(async () => (await ask('tk_none_none'))[0]).toBe(403);
    await expect.poll(() => ask(key, 'add', '{"name":"Ada"}')).toEqual([200, expect.anything()]);
    for (let i = 0; i < 12; i++) expect(await ask(key)).toEqual([200, { p: [{ name: 'Ada' }] }]);
    // An administrator of one tenant does not change which tenants there are.
    const [status] = await ask(key, '_admin/tenants', '{"drop":"acme"}');
    expect(status).toBe(404);
  } finally {
    await plain.dispose();
  }
});
