// Who is answered: Host, Origin, CORS, keys, roles, scopes, rates, protected mode (http.md 8), on
// both transports.
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeyFile, writeKeyFile } from '../../server/auth/key-file.js';
import { makeKey, type Role } from '../../server/auth/key-record.js';
import type { Reply, Request } from '../support/server/http.js';
import { type RunningApp, startApp, transports } from './running-app.js';

const codeOf = (reply: Reply): string => JSON.parse(reply.text).code ?? 'ok';

async function outcome(server: RunningApp, request: Request): Promise<string> {
  const reply = await server.request(request);
  return reply.status === 204 ? 'preflight' : codeOf(reply);
}

const hosts: [string, 'ok' | 'HOST_NOT_ALLOWED'][] = [
  ['localhost', 'ok'],
  ['localhost:6969', 'ok'],
  ['LOCALHOST', 'ok'],
  ['127.0.0.1', 'ok'],
  ['10.1.2.3:80', 'ok'],
  ['[::1]:1', 'ok'],
  ['[fe80::1]', 'ok'],
  ['app.localhost', 'ok'],
  ['host.docker.internal:6969', 'ok'],
  ['listed.example', 'ok'],
  ['evil.example', 'HOST_NOT_ALLOWED'],
  ['127.0.0.1.evil.example', 'HOST_NOT_ALLOWED'],
  ['localhost.evil.example', 'HOST_NOT_ALLOWED'],
  ['evillocalhost', 'HOST_NOT_ALLOWED'],
  ['localhost:80:80', 'HOST_NOT_ALLOWED'],
  ['evil.example@localhost', 'HOST_NOT_ALLOWED'],
];

const own = 'http://localhost';
const origins: [Record<string, string>, string][] = [
  [{}, 'ok'],
  [{ Origin: own }, 'ok'],
  [{ Origin: 'https://localhost' }, 'ORIGIN_NOT_ALLOWED'],
  [{ Origin: 'http://localhost:1' }, 'ORIGIN_NOT_ALLOWED'],
  [{ Origin: 'http://evil.example' }, 'ORIGIN_NOT_ALLOWED'],
  [{ Origin: 'null' }, 'ORIGIN_NOT_ALLOWED'],
  [{ Origin: 'https://app.example' }, 'ok'],
  [{ Origin: 'https://app.example.evil.example' }, 'ORIGIN_NOT_ALLOWED'],
  [{ 'Sec-Fetch-Site': 'cross-site' }, 'ORIGIN_NOT_ALLOWED'],
  [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://app.example' }, 'ok'],
  [{ 'Sec-Fetch-Site': 'same-origin' }, 'ok'],
  [{ 'Sec-Fetch-Site': 'none' }, 'ok'],
];

describe.each(transports)('without keys on %s', (transport) => {
  let server: RunningApp;
  beforeAll(async () => {
    server = await startApp(transport, {
      'server.allowed_hosts': 'listed.example',
      'cors.origins': 'https://app.example',
    });
  });
  afterAll(() => server.close());

  it.each(hosts)('Host: %s -> %s', async (host, expected) => {
    expect(await outcome(server, { path: '/ping', headers: { Host: host } })).toBe(expected);
  });

  it.each(origins)('%o -> %s', async (headers, expected) => {
    expect(await outcome(server, { path: '/ping', headers })).toBe(expected);
  });

  it('gives a listed origin its headers, on errors too', async () => {
    for (const path of ['/ping', '/nope', '/missing']) {
      const reply = await server.request({ path, headers: { Origin: 'https://app.example' } });
      expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example');
      expect(reply.headers.get('vary')).toBe('Origin');
      expect(reply.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  it('answers a preflight of a listed origin only', async () => {
    const preflight = (origin: string): Request => ({
      method: 'OPTIONS',
      path: '/ping',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
    });
    const reply = await server.request(preflight('https://app.example'));
    expect(reply.status).toBe(204);
    expect(reply.headers.get('access-control-allow-methods')).toBe('GET, POST');
    expect(reply.headers.get('access-control-allow-headers')).toContain('x-api-key');
    expect(reply.headers.get('access-control-max-age')).toBe('600');
    const other = await server.request(preflight('https://evil.example'));
    expect([other.status, other.headers.has('access-control-allow-origin')]).toEqual([403, false]);
    const plain = await server.request(preflight(own));
    expect([plain.status, plain.headers.has('access-control-allow-origin')]).toEqual([405, false]);
  });

  it('ignores keys that are not configured', async () => {
    expect(await outcome(server, { path: '/ping', headers: { 'x-api-key': 'x' } })).toBe('ok');
  });

  it('lets this machine administer', async () => {
    expect((await server.request({ path: '/_admin/nothing' })).status).toBe(200);
  });
});

/** Each role against each kind of route. */
const matrix: [Role, Record<string, boolean>][] = [
  [
    'read',
    {
      ping: true,
      put: false,
      'mcp/init': true,
      version: true,
      metrics: false,
      slowlog: false,
      _admin: false,
    },
  ],
  [
    'write',
    {
      ping: true,
      put: true,
      'mcp/init': true,
      version: true,
      metrics: false,
      slowlog: false,
      _admin: false,
    },
  ],
  [
    'admin',
    {
      ping: true,
      put: true,
      'mcp/init': true,
      version: true,
      metrics: true,
      slowlog: true,
      _admin: true,
    },
  ],
  [
    'metrics',
    {
      ping: false,
      put: false,
      'mcp/init': false,
      version: false,
      metrics: true,
      slowlog: false,
      _admin: false,
    },
  ],
];

const targets: Record<string, Request> = {
  ping: { path: '/ping' },
  put: { path: '/put', body: '{}' },
  'mcp/init': { path: '/mcp/init' },
  version: { method: 'GET', path: '/version' },
  metrics: { method: 'GET', path: '/metrics' },
  slowlog: { method: 'GET', path: '/slowlog' },
  _admin: { path: '/_admin/nothing' },
};

describe.each(transports)('with keys on %s', (transport) => {
  let server: RunningApp;
  const texts = new Map<string, string>();
  const now = new Date();

  beforeAll(async () => {
    server = await startApp(transport, { 'limits.auth_failures': '1000', 'cors.origins': '*' });
    const wanted = [
      ...matrix.map(([role]) => ({ name: role, role })),
      { name: 'scoped', role: 'write' as const, queries: ['pi*', 'put'] },
      { name: 'expired', role: 'admin' as const, expires: '2020-01-01T00:00:00Z' },
    ];
    const records = wanted.map((options) => {
      const { record, text } = makeKey(options, now);
      texts.set(options.name, text);
      return record;
    });
    writeKeyFile(`${server.folder}/.trellis/data/keys.json`, records);
    server.app.keys.refresh();
  });
  afterAll(() => server.close());

  const withKey = (request: Request, name: string): Request => ({
    ...request,
    headers: { 'x-api-key': texts.get(name)! },
  });

  it.each(matrix)('role %s', async (role, rights) => {
    for (const [target, allowed] of Object.entries(rights)) {
      const reply = await server.request(withKey(targets[target]!, role));
      expect([target, reply.status]).toEqual([target, allowed ? 200 : 403]);
      if (!allowed) expect(codeOf(reply)).toBe('FORBIDDEN');
    }
  });

  it('holds a scoped key to its queries', async () => {
    const outcomes: [string, Request, string][] = [
      ['prefix', { path: '/ping' }, 'ok'],
      ['name', { path: '/put', body: '{}' }, 'ok'],
      ['other query', { path: '/echo' }, 'FORBIDDEN'],
      ['session', { path: '/mcp/init' }, 'FORBIDDEN'],
      ['explorer', { method: 'GET', path: '/nodes-edges' }, 'FORBIDDEN'],
      ['unknown', { path: '/nope' }, 'NOT_FOUND'],
    ];
    for (const [name, request, expected] of outcomes) {
      expect([name, await outcome(server, withKey(request, 'scoped'))]).toEqual([name, expected]);
    }
  });

  it('needs a key before it says what exists', async () => {
    for (const path of ['/ping', '/nope', '/mcp/init', '/_admin/nothing']) {
      const reply = await server.request({ path });
      expect([reply.status, codeOf(reply)]).toEqual([401, 'API_KEY_REQUIRED']);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    }
    for (const path of ['/', '/livez', '/readyz', '/healthz']) {
      expect((await server.request({ method: 'GET', path })).status).toBe(200);
    }
    for (const path of ['/introspect', '/version', '/metrics', '/slowlog', '/nodes-edges']) {
      expect((await server.request({ method: 'GET', path })).status).toBe(401);
    }
  });

  it('reads the key from two headers only', async () => {
    const key = texts.get('read')!;
    const ok: Record<string, string>[] = [
      { 'x-api-key': key },
      { Authorization: `Bearer ${key}` },
      { Authorization: `bearer ${key}` },
      { 'x-api-key': key, Authorization: 'Bearer wrong' },
    ];
    for (const headers of ok) expect(await outcome(server, { path: '/ping', headers })).toBe('ok');
    const missing: [Request, string][] = [
      [{ path: `/ping?api_key=${key}` }, 'API_KEY_REQUIRED'],
      [{ path: '/ping', headers: { 'x-api-key': '' } }, 'API_KEY_REQUIRED'],
      [{ path: '/ping', headers: { Authorization: `Basic ${key}` } }, 'API_KEY_REQUIRED'],
    ];
    for (const [request, code] of missing) expect(await outcome(server, request)).toBe(code);
  });

  it.each([
    ['another length', (key: string) => `${key}x`],
    ['a prefix', (key: string) => key.slice(0, 20)],
    ['ten kilobytes', () => 'k'.repeat(10_000)],
    ['another letter case', (key: string) => key.toUpperCase()],
  ])('refuses %s', async (_, change) => {
    const headers = { 'x-api-key': change(texts.get('admin')!) };
    const reply = await server.request({ path: '/ping', headers });
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      403,
      expect.objectContaining({ code: 'INVALID_API_KEY', error: 'Invalid API key' }),
    ]);
  });

  it('refuses an expired key', async () => {
    expect(await outcome(server, withKey({ path: '/ping' }, 'expired'))).toBe('INVALID_API_KEY');
  });

  it('needs no Host check, and takes any origin when configured so', async () => {
    const headers = {
      'x-api-key': texts.get('read')!,
      Host: 'db.example',
      Origin: 'https://any.example',
    };
    const reply = await server.request({ path: '/ping', headers });
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://any.example',
    ]);
  });

  it('keeps its keys when the file vanishes', async () => {
    const path = `${server.folder}/.trellis/data/keys.json`;
    const { renameSync } = await import('node:fs');
    renameSync(path, `${path}.away`);
    server.app.keys.refresh();
    expect(await outcome(server, { path: '/ping' })).toBe('API_KEY_REQUIRED');
    renameSync(`${path}.away`, path);
    expect(readKeyFile(path).length).toBe(matrix.length + 2);
  });
});

describe.each(transports)('rates and remote peers on %s', (transport) => {
  it('slows down clients that guess keys', async () => {
    const key = 'a'.repeat(40);
    const server = await startApp(transport, { 'auth.api_key': key, 'limits.auth_failures': '3' });
    expect(await outcome(server, { path: '/ping', headers: { 'x-api-key': key } })).toBe('ok');
    const seen: string[] = [];
    for (let i = 0; i < 8; i++) {
      seen.push(await outcome(server, { path: '/ping', headers: { 'x-api-key': `wrong${i}` } }));
    }
    expect(seen).toContain('RATE_LIMITED');
    expect(seen.slice(0, 3)).toEqual(Array(3).fill('INVALID_API_KEY'));
    // A key that was accepted before is not a guess.
    expect(await outcome(server, { path: '/ping', headers: { 'x-api-key': key } })).toBe('ok');
    server.close();
  });

  it('takes a digest for the key of the environment', async () => {
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256').update('secret').digest('hex');
    const server = await startApp(transport, { 'auth.api_key': `sha256:${digest}` });
    expect(server.log.join()).not.toContain('sha256:');
    expect(
      await outcome(server, { path: '/put', headers: { 'x-api-key': 'secret' }, body: '{}' }),
    ).toBe('ok');
    expect(await outcome(server, { path: '/ping', headers: { 'x-api-key': digest } })).toBe(
      'INVALID_API_KEY',
    );
    server.close();
  });

  it('warns of a digest without its prefix, and refuses a key that can be guessed', async () => {
    const server = await startApp(transport, { 'auth.api_key': 'ab'.repeat(32) });
    expect(server.log.join()).toMatch(/"level":"warn".*write `sha256:` before them/);
    server.close();
    for (const key of ['k', 'fifteen letters', 'sha256:ab', `sha256:${'x'.repeat(64)}`]) {
      await expect(startApp(transport, { 'auth.api_key': key }), key).rejects.toThrow(
        /auth.api_key/,
      );
    }
  });

  const remote = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;

  it.skipIf(remote === undefined)(
    'answers other machines only if the configuration allows it',
    async () => {
      const from = async (server: RunningApp, request: Request): Promise<Reply> => {
        const connection = await server.connect(remote);
        const reply = await connection.request(request);
        connection.close();
        return reply;
      };
      const closed = await startApp(transport, { 'server.host': '0.0.0.0' });
      const ping: Request = { path: '/ping' };
      expect(codeOf(await from(closed, ping))).toBe('PROTECTED_MODE');
      expect((await from(closed, { method: 'GET', path: '/readyz' })).status).toBe(200);
      expect((await closed.request(ping)).status).toBe(200);
      expect(closed.app.warnings().join()).toContain('protected mode');
      closed.close();
      const open = await startApp(transport, {
        'server.host': '0.0.0.0',
        'server.insecure_no_auth': 'true',
      });
      expect((await from(open, ping)).status).toBe(200);
      expect(codeOf(await from(open, { path: '/_admin/nothing' }))).toBe('FORBIDDEN');
      open.close();
    },
  );
});
