// How a provider is reached: the base URL with its query, this machine without a credential, and proxies.
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEmbedder } from '../../engine/embed/create-embedder.js';
import { post, proxyFor } from '../../engine/embed/post.js';
import { findProvider } from '../../engine/embed/provider/provider.js';
import { parseModel, type RemoteModel } from '../../engine/embed/provider/model.js';
import { type EmbeddingStub, startEmbeddingStub, stubCredential } from './provider-stub.js';

let stub: EmbeddingStub;
beforeAll(async () => {
  stub = await startEmbeddingStub();
});
afterAll(() => stub.close());

const form = { task: undefined, dimensions: undefined };
const callOf = (model: string, environment: Record<string, string>) =>
  findProvider(parseModel(model) as RemoteModel, { environment }).call(['a'], form);

describe('EM04 the base URL', () => {
  const urls: [string, Record<string, string>, string][] = [
    ['openai:m', { OPENAI_BASE_URL: 'https://h/v1?a=1' }, 'https://h/v1/embeddings?a=1'],
    ['openai:m', { OPENAI_BASE_URL: 'https://h' }, 'https://h/embeddings'],
    ['local', { EMBEDDING_URL: 'https://h/x?k=v&k=w' }, 'https://h/x?k=v&k=w'],
    [
      'azure_openai:d',
      { AZURE_OPENAI_ENDPOINT: 'https://h/base?api-version=2025-01-01' },
      'https://h/base/openai/deployments/d/embeddings?api-version=2025-01-01',
    ],
    ['tei', { TEI_BASE_URL: 'https://h/?x' }, 'https://h/embed?x'],
  ];
  it.each(urls)('%s %j', (model, address, url) => {
    const keys = { OPENAI_API_KEY: 'k', AZURE_OPENAI_API_KEY: 'k' };
    expect(callOf(model, { ...keys, ...address }).url.href).toBe(url);
  });
});

describe('EM04 a server on this machine', () => {
  it.each(['http://localhost:1', 'http://127.0.0.9:1', 'http://[::1]:1', 'http://x.localhost:1'])(
    '%s needs no credential',
    (OPENAI_BASE_URL) => {
      expect(callOf('openai:m', { OPENAI_BASE_URL }).headers).toEqual({});
    },
  );
  it('gets one that is set', () => {
    const call = callOf('openai:m', { OPENAI_BASE_URL: 'http://localhost:1', OPENAI_API_KEY: 'k' });
    expect(call.headers).toEqual({ authorization: 'Bearer k' });
  });
  it.each(['https://example.com', 'http://10.0.0.1', 'http://localhost.example.com'])(
    '%s is another one',
    (OPENAI_BASE_URL) => {
      expect(() => callOf('openai:m', { OPENAI_BASE_URL })).toThrowError(
        /OPENAI_API_KEY is not set/,
      );
    },
  );
});

describe('EM04 proxies', () => {
  const rules: [string, string, string | undefined][] = [
    ['https://api.openai.com/v1', '', 'http://proxy:3128/'],
    ['http://api.openai.com/v1', '', undefined],
    ['https://api.openai.com/v1', '*', undefined],
    ['https://api.openai.com/v1', 'openai.com', undefined],
    ['https://api.openai.com/v1', '.openai.com, other', undefined],
    ['https://api.openai.com/v1', '*.openai.com', undefined],
    ['https://api.openai.com/v1', 'openai.com:443', undefined],
    ['https://api.openai.com/v1', 'openai.com:8443', 'http://proxy:3128/'],
    ['https://api.openai.com/v1', 'enai.com', 'http://proxy:3128/'],
    ['https://localhost/v1', '', undefined],
    ['https://127.0.0.1/v1', '', undefined],
  ];
  it.each(rules)('%s with NO_PROXY=%s', (url, none, expected) => {
    const variables = { https_proxy: 'proxy:3128', NO_PROXY: none };
    expect(proxyFor(new URL(url), variables)?.href).toBe(expected);
  });

  it('one that is no address is named', () => {
    const url = new URL('https://example.com');
    expect(() => proxyFor(url, { HTTPS_PROXY: 'socks5://h' })).toThrowError(/HTTPS_PROXY is not/);
  });

  const seen: { method: string; url: string; credential: string | undefined }[] = [];
  const note = ({ method, url, headers }: IncomingMessage): void => {
    seen.push({ method: method!, url: url!, credential: headers['proxy-authorization'] });
  };
  const proxy = createServer((request, response) => {
    note(request);
    request.resume().once('end', () => response.writeHead(200, { 'x-by': 'proxy' }).end('through'));
  });
  proxy.on('connect', (request, socket: Socket) => {
    note(request);
    if (request.url === 'refused.example:443') return socket.end('HTTP/1.1 403 No\r\n\r\n');
    const { port } = new URL(stub.url);
    const there = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
    socket.on('error', () => there.destroy());
  });
  beforeAll(() => new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve)));
  beforeEach(() => void (seen.length = 0));
  afterAll(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const proxyUrl = (): URL =>
    new URL(`http://user:pa%20ss@127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  const send = (url: string) =>
    post({
      url: new URL(url),
      headers: { 'content-type': 'application/json' },
      body: '{}',
      signal: AbortSignal.timeout(5_000),
      proxy: proxyUrl(),
    });
  const credential = `Basic ${Buffer.from('user:pa ss').toString('base64')}`;

  it('an http URL is sent whole, with the credential of the proxy', async () => {
    const response = await send('http://models.example/embed?x=1');
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    expect([response.status, response.header('x-by')]).toEqual([200, 'proxy']);
    expect(Buffer.concat(chunks).toString()).toBe('through');
    const url = 'http://models.example/embed?x=1';
    expect(seen).toEqual([{ method: 'POST', url, credential }]);
  });

  it('an https URL goes through a tunnel, and the name is checked inside it', async () => {
    // The stub speaks no TLS, so the handshake in the tunnel fails: the tunnel was opened.
    await expect(send('https://models.example/embed')).rejects.toThrow();
    expect(seen).toEqual([{ method: 'CONNECT', url: 'models.example:443', credential }]);
    await expect(send('https://refused.example/embed')).rejects.toMatchObject({
      code: 'the proxy answered 403',
    });
  });

  it('an embedder uses it for names that this machine cannot resolve', async () => {
    const embedder = createEmbedder({
      environment: {
        OPENAI_BASE_URL: 'http://models.invalid/v1',
        OPENAI_API_KEY: stubCredential,
        HTTP_PROXY: proxyUrl().href,
      },
      timeoutMs: 5_000,
      retries: 0,
      cacheEntries: 0,
      allowPrivate: false,
    });
    const asked = embedder.embed('m', ['a'], performance.now() + 5_000);
    await expect(asked).rejects.toMatchObject({
      data: { args: { detail: 'the answer is not JSON' } },
    });
    expect(seen[0]!.url).toBe('http://models.invalid/v1/embeddings');
  });
});
