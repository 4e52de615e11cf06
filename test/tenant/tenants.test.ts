// Databases of tenants in one process (cluster.md 11.1, K45): which tenant a request belongs to, that no
// request reaches another tenant's data, and that databases open and close unnoticed.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase, takeLock } from '../../engine/internal.js';
import type { Reply } from '../support/server/http.js';
import { FakeDatabase } from '../support/fake-database.js';
import { Random } from '../support/random.js';
import { type RunningTenants, startTenants } from './running-tenants.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const source = `
  N::Person { UNIQUE INDEX name: String }
  QUERY add(name: String) =>
      person <- AddN<Person>({ name: name })
      RETURN person::{ name }
  QUERY put(token: String) =>
      person <- AddN<Person>({ name: token })
      RETURN person::{ name }
  QUERY all() =>
      people <- N<Person>
      RETURN people::{ name }`;

const codeOf = ({ text }: Reply): string | undefined => JSON.parse(text).code;

describe('the tenant of a request', () => {
  let server: RunningTenants;
  const fakes = new Map<string, FakeDatabase>();
  beforeAll(async () => {
    const open = async ({ dataDir }: { dataDir: string }): Promise<FakeDatabase> => {
      const fake = new FakeDatabase();
      const name = /tenants\/(.*)$/.exec(dataDir)?.[1] ?? 'main';
      fakes.set(name, fake);
      return fake;
    };
    const settings = {
      'tenants.databases.acme': '',
      'tenants.databases.beta': '',
      'limits.auth_failures': '1000000',
    };
    const keys = [
      { text: 'tk_op_secret' },
      { text: 'tk_acmekey_secret', tenant: 'acme' },
      { text: 'tk_gonekey_secret', tenant: 'gone' },
    ];
    server = await startTenants(source, open, settings, keys);
  });
  afterAll(() => server.close());

  const names = ['', 'acme', 'beta', 'gone', '../acme', 'ACME', 'constructor'];
  const isThere = (name: string): boolean => name === 'acme' || name === 'beta';
  const keys = ['', 'wrong', 'tk_op_secret', 'tk_acmekey_secret', 'tk_gonekey_secret'];

  /** The database that is asked, or the code of the refusal. */
  function expected(key: string, header: string): string {
    if (key === '') return 'API_KEY_REQUIRED';
    if (key === 'wrong') return 'INVALID_API_KEY';
    const bound = /^tk_(\w+)key_/.exec(key)?.[1];
    if (bound !== undefined && header !== '' && header !== bound) return 'FORBIDDEN';
    const name = header || bound || 'main';
    return name === 'main' || isThere(name) ? name : 'TENANT_UNKNOWN';
  }

  async function asked(key: string, header: string): Promise<string> {
    const headers = {
      ...(key && { 'x-api-key': key }),
      ...(header && { 'Trellis-Tenant': header }),
    };
    const token = `${key} ${header}`;
    const reply = await server.post('/put', { token }, headers);
    const took = [...fakes].filter(([, { written }]) =>
      written.some((body) => body.includes(token)),
    );
    expect(took.length).toBe(reply.status === 200 ? 1 : 0);
    return took[0]?.[0] ?? codeOf(reply)!;
  }

  it('K45: the header chooses, or the key, and a key of a tenant is for that one alone', async () => {
    for (const key of keys) {
      for (const header of names) {
        expect([key, header, await asked(key, header)]).toEqual([
          key,
          header,
          expected(key, header),
        ]);
      }
    }
  });

  it('K45: a caller without access learns no names of databases', async () => {
    const paths = ['/livez', '/readyz', '/openapi.json', '/metrics', '/ping', '/nothing', '/mcp'];
    for (const path of paths) {
      for (const key of ['', 'wrong']) {
        const replies = await Promise.all(
          ['', 'acme', 'gone'].map(async (name) => {
            const headers = { ...(key && { 'x-api-key': key }), 'Trellis-Tenant': name };
            const { status, text } = await server.get(path, headers);
            return `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;
          }),
        );
        expect(new Set(replies).size, `${path} ${key}`).toBe(1);
      }
    }
  });

  it('K45: contract, numbers and slow requests are those of the tenant', async () => {
    const headers = { 'x-api-key': 'tk_acmekey_secret' };
    const contract = JSON.parse((await server.get('/openapi.json', headers)).text);
    expect(contract.info.title).toBe('acme');
    const { text } = await server.get('/metrics', headers);
    expect(text).not.toMatch(/trellis_connections|process_start|trellis_tenants/);
    expect(text).toMatch(/trellis_requests_total\{route="put",status="200"\} \d+/);
    const beta = await server.get('/metrics', {
      'x-api-key': 'tk_op_secret',
      'Trellis-Tenant': 'beta',
    });
    expect(beta.text).toMatch(/trellis_requests_total\{route="put",status="200"\} 1\n/);
  });
});

describe('a server without tenants', () => {
  it('returns an error for an unknown name', async () => {
    const fake = new FakeDatabase();
    const server = await startTenants(source, async () => fake, {}, [
      { text: 'tk_op_secret' },
      { text: 'tk_acmekey_secret', tenant: 'acme' },
    ]);
    try {
      const named = await server.get('/openapi.json', {
        'x-api-key': 'tk_op_secret',
        'Trellis-Tenant': 'a',
      });
      expect([named.status, codeOf(named)]).toEqual([404, 'TENANT_UNKNOWN']);
      const bound = await server.get('/openapi.json', { 'x-api-key': 'tk_acmekey_secret' });
      expect([bound.status, codeOf(bound)]).toEqual([403, 'FORBIDDEN']);
    } finally {
      await server.close();
    }
  });
});

/** Slots are few and used by turns: a refused caller tries again. */
async function patiently(ask: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await ask();
    if (reply.status !== 503 || codeOf(reply) !== 'OVERLOADED') return reply;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('isolation', () => {
  let server: RunningTenants;
  const tenants = ['acme', 'beta', ''] as const;
  beforeAll(async () => {
    const settings = {
      'tenants.databases.acme': '',
      'tenants.databases.beta': 'elsewhere',
      'tenants.max_open': '1',
      'tenants.idle_timeout': '100ms',
      'storage.ballast': '0',
      'server.workers': '1',
    };
    server = await startTenants(source, openDatabase, settings);
  });
  afterAll(() => server.close());

  const post = (tenant: string, path: string, body: object, more: Record<string, string> = {}) =>
    patiently(() => server.post(path, body, { ...more, 'Trellis-Tenant': tenant }));

  it('K45: random calls of tenants meet their own data, sessions and kept answers alone', async () => {
    const random = new Random(11);
    const rows = new Map<string, Set<string>>(tenants.map((name) => [name, new Set()]));
    const sessions = new Map<string, string>();
    const blocks = isLong ? 150 : 4;
    for (let block = 0; block < blocks; block++) {
      const tenant = block < 3 ? tenants[block]! : random.pick(tenants);
      const mine = rows.get(tenant)!;
      for (let step = 0; step < 8; step++) {
        // The same names and the same keys of writes everywhere: only the tenant tells them apart.
        const name = `p${random.below(20)}`;
        const reply = await post(tenant, '/add', { name }, { 'Idempotency-Key': `k-${name}` });
        expect(reply.status).toBe(200);
        mine.add(name);
      }
      const { people } = JSON.parse((await post(tenant, '/all', {})).text);
      const found = people.map((person: { name: string }) => person.name).sort();
      expect(found).toEqual([...mine].sort());
      await walk(tenant, mine, sessions);
    }
  });

  /** One session a tenant, through all its times of being closed; no other tenant knows it. */
  async function walk(tenant: string, mine: Set<string>, sessions: Map<string, string>) {
    let session = sessions.get(tenant);
    if (session === undefined) {
      session = JSON.parse((await post(tenant, '/mcp/init', {})).text) as string;
      sessions.set(tenant, session);
    } else {
      await post(tenant, '/mcp/reset', { connection_id: session });
    }
    const data = { node_type: 'Person' };
    await post(tenant, '/mcp/n_from_type', { connection_id: session, data });
    const range = { start: 0, end: -1 };
    const items = JSON.parse(
      (await post(tenant, '/mcp/collect', { connection_id: session, range })).text,
    );
    expect(items.length).toBe(mine.size);
    const other = tenants[(tenants.indexOf(tenant as '') + 1) % 3]!;
    const stolen = await post(other, '/mcp/next', { connection_id: session });
    expect(codeOf(stolen)).toBe('CONNECTION_NOT_FOUND');
  }

  const open = async (): Promise<number> => {
    const { text } = await server.get('/metrics');
    return Number(/trellis_tenants\{state="open"\} (\d+)/.exec(text)![1]);
  };

  it('K45: no more databases are open than the limit, and none that no request needs', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, i) => post(tenants[i % 2]!, '/all', {})),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(await open()).toBeLessThanOrEqual(1);
    while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    const ready = await server.get('/readyz', { 'Trellis-Tenant': 'acme' });
    expect([ready.status, await open()]).toEqual([200, 0]);
    // One that cannot be opened is its own trouble.
    // It is counted as closed a moment before its directory is given up.
    const lock = await vi.waitFor(() => takeLock(server.config.databases.get('beta')!), 5_000);
    try {
      const refused = await post('beta', '/all', {});
      expect([refused.status, codeOf(refused)]).toEqual([503, 'TENANT_CLOSED']);
      expect((await post('acme', '/all', {})).status).toBe(200);
    } finally {
      lock.release();
    }
  });
});
