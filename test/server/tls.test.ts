// TLS on both transports, with a certificate made for the test.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, transports } from './running-app.js';

const folder = mkdtempSync(join(tmpdir(), 'trellis-tls-'));
const cert = join(folder, 'cert.pem');
const key = join(folder, 'key.pem');

function makeCertificate(): boolean {
  const argv = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
  ];
  const rest = ['-subj', '/CN=localhost', '-days', '2', '-keyout', key, '-out', cert];
  try {
    execFileSync('openssl', [...argv, ...rest], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('skipped: openssl is not here to make a certificate');
    return false;
  }
}

function get(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request({ port, host: '127.0.0.1', path, rejectUnauthorized: false }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    call.on('error', reject);
    call.end();
  });
}

describe.skipIf(!makeCertificate()).each(transports)('TLS on %s', (transport) => {
  let server: Awaited<ReturnType<typeof startApp>>;
  beforeAll(async () => {
    server = await startApp(transport, { 'tls.cert': cert, 'tls.key': key });
  });
  afterAll(() => server.close());

  it('serves', async () => {
    expect(await get(server.port, '/livez')).toBe(200);
  });
  it('goes on with the files it has when new ones cannot be used', async () => {
    const kept = readFileSync(key);
    for (const bad of ['', 'x', readFileSync(cert)]) {
      writeFileSync(key, bad);
      server.app.renew();
      expect(await get(server.port, '/livez')).toBe(200);
    }
    writeFileSync(key, kept);
    server.app.renew();
    expect(await get(server.port, '/livez')).toBe(200);
  });
  it('does not speak clear text', async () => {
    const { text } = await server.raw('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(text).not.toContain('200');
  });
});

describe('TLS files', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  it.each([
    ['only one of them', { 'tls.cert': cert }, /needed together/],
    ['one that is missing', { 'tls.cert': join(folder, 'no'), 'tls.key': key }, /cannot be used/],
    [
      'one that is no certificate',
      { 'tls.cert': join(folder, 'bad'), 'tls.key': join(folder, 'bad') },
      /cannot be used/,
    ],
    ['an empty key', { 'tls.cert': cert, 'tls.key': join(folder, 'empty') }, /cannot be used/],
    ['the certificate as key', { 'tls.cert': cert, 'tls.key': cert }, /cannot be used/],
    [
      'the key of another',
      { 'tls.cert': cert, 'tls.key': join(folder, 'other') },
      /cannot be used/,
    ],
  ])('refuses %s', async (_, settings, message) => {
    writeFileSync(join(folder, 'bad'), 'x');
    writeFileSync(join(folder, 'empty'), '');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    writeFileSync(join(folder, 'other'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await expect(startApp('node', settings)).rejects.toThrow(message);
  });
});
