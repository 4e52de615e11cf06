// Sends one POST request: by `fetch`, or through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name.
// A proxy gets a CONNECT for https, and the whole URL for http (RFC 9110, 9.3.6; RFC 9112, 3.2.2).
// Invariant: redirects are not followed, and this machine is never reached through a proxy.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { type RequestOptions, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { notConfigured } from './provider/model.js';
import { loopbackHost } from './provider/private-address.js';

export interface PostResponse {
  status: number;
  header: (name: string) => string | null;
  body: AsyncIterable<Uint8Array>;
}

export interface Post {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal;
  proxy: URL | undefined;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy for a URL, or undefined. NO_PROXY lists hosts, domains with all hosts below them, and
 * `*`, each with an optional port. Fails EMBEDDING_NOT_CONFIGURED.
 */
export function proxyFor(url: URL, variables: Variables): URL | undefined {
  const read = (name: string): string => (variables[name] || variables[name.toLowerCase()]) ?? '';
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = read(name).trim();
  if (value === '' || loopbackHost(url)) return undefined;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isDirect = read('NO_PROXY')
    .split(/[\s,]+/)
    .some((rule) => rule !== '' && matches(rule, url.hostname, port));
  if (isDirect) return undefined;
  const full = /^\w+:\/\//.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(full) ? new URL(full) : undefined;
  if (proxy === undefined || !/^https?:$/.test(proxy.protocol))
    notConfigured(`${name} is not an http or https URL`);
  return proxy;
}

function matches(rule: string, host: string, port: string): boolean {
  const [, name = '', own] = /^(.*?)(?::(\d+))?$/.exec(rule.toLowerCase())!;
  if (own !== undefined && own !== port) return false;
  const domain = name.replace(/^\*?\.?/, '');
  return name === '*' || (domain !== '' && (host === domain || host.endsWith(`.${domain}`)));
}

/** Fails as the network fails, and with an AbortError after the signal. */
export async function post(sent: Post): Promise<PostResponse> {
  if (sent.proxy !== undefined) return postByProxy(sent, sent.proxy);
  const { url, headers, body, signal } = sent;
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: response.body ?? empty(),
  };
}

async function* empty(): AsyncIterable<Uint8Array> {}

async function postByProxy(sent: Post, proxy: URL): Promise<PostResponse> {
  const { url, body, signal } = sent;
  const isSecure = url.protocol === 'https:';
  const headers = { ...sent.headers, 'content-length': String(Buffer.byteLength(body)) };
  const options: RequestOptions = { method: 'POST', headers, signal, agent: false };
  const request = isSecure
    ? httpsRequest(url, { ...options, createConnection: await tunnel(url, proxy, signal) })
    : requestTo(proxy, { ...options, path: url.href, headers: { host: url.host, ...headers } });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode!,
    header: (name) => [response.headers[name]].flat()[0] ?? null,
    body: response,
  };
}

/** A request to the proxy itself. */
function requestTo(proxy: URL, options: RequestOptions) {
  const { username, password } = proxy;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credential = { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
  const make = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = { ...options.headers, ...(username !== '' && credential) };
  return make({ ...options, host: hostOf(proxy), port: proxy.port || undefined, headers });
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Opens a tunnel through the proxy, and returns what makes a connection of TLS in it. */
async function tunnel(url: URL, proxy: URL, signal: AbortSignal) {
  const authority = `${url.hostname}:${url.port || 443}`;
  const request = requestTo(proxy, {
    method: 'CONNECT',
    path: authority,
    headers: { host: authority },
    signal,
    agent: false,
  });
  request.end();
  const [response, socket] = (await once(request, 'connect')) as [IncomingMessage, Socket];
  if (response.statusCode !== 200) {
    socket.destroy();
    const code = `the proxy answered ${response.statusCode}`;
    throw Object.assign(new TypeError(code), { code });
  }
  return () => connectTls({ socket, servername: hostOf(url) });
}
