// TLS on both transports, with a certificate made for the test.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
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

/** What is agreed on with who has but this suite, and no TLS 1.3. */
function suiteOf(port: number, ciphers: string): Promise<string> {
  return new Promise((resolve) => {
    // What this side may speak is not in question.
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.2' };
    const socket = connect({ ...options, ciphers: `${ciphers}:@SECLEVEL=0` } as ConnectionOptions);
    socket.once('secureConnect', () => {
      resolve(socket.getCipher().name);
      socket.destroy();
    });
    socket.once('error', () => resolve('refused'));
  });
}

const hasCertificate = makeCertificate();

describe.skipIf(!hasCertificate)('half a handshake', () => {
  it('ends when a head would, on the transport that leaves it to us', async () => {
    const settings = { 'tls.cert': cert, 'tls.key': key, 'limits.receive_time': '1s' };
    const server = await startApp('node', settings);
    // A record that announces more than ever comes; and nothing at all.
    for (const bytes of [Buffer.from('1603010200010001fc0303', 'hex'), Buffer.alloc(0)]) {
      const socket = connectPlain(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(bytes);
      const ended = new Promise((resolve) => socket.once('close', () => resolve('ended')));
      socket.resume();
      expect(await ended).toBe('ended');
    }
    expect(await get(server.port, '/livez')).toBe(200);
    server.close();
  });
});

describe.skipIf(!hasCertificate).each(transports)('TLS on %s', (transport) => {
  let server: Awaited<ReturnType<typeof startApp>>;
  beforeAll(async () => {
    server = await startApp(transport, { 'tls.cert': cert, 'tls.key': key });
  });
  afterAll(() => server.close());

  it('serves', async () => {
    expect(await get(server.port, '/livez')).toBe(200);
  });
  it('continues with its files if new ones cannot be used', async () => {
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
  const aead = ['AES256-GCM-SHA384', 'AES128-GCM-SHA256', 'CHACHA20-POLY1305'];
  const others = ['AES256-SHA384', 'AES128-SHA256', 'AES256-SHA', 'AES128-SHA'];
  it.each(aead)('takes ECDHE-ECDSA-%s under TLS 1.2', async (suite) => {
    expect(await suiteOf(server.port, `ECDHE-ECDSA-${suite}`)).toBe(`ECDHE-ECDSA-${suite}`);
  });
  it.each(others)('refuses ECDHE-ECDSA-%s: it is not authenticated as a whole', async (suite) => {
    expect(await suiteOf(server.port, `ECDHE-ECDSA-${suite}`)).toBe('refused');
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
