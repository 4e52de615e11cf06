// Sends one message to the server. The response is one message, or a stream of events.
import { Agent as PlainAgent, type IncomingMessage, request as requestPlain } from 'node:http';
import { type RequestOptions, Agent as TlsAgent, request as requestTls } from 'node:https';
import { isModernFrame } from '../message/protocol-version.js';
import type { Frame } from '../message/json-rpc.js';

/** Address and credentials of the server. */
export interface Target {
  /** URL with the path of the endpoint. */
  url: string;
  socketPath?: string;
  /** Options that decide which certificates are accepted. */
  tls?: RequestOptions;
}

export interface Sending {
  frame: Frame;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Called for each event of a stream. */
  onEvent: (data: string) => void;
}

export interface Came {
  /** HTTP status; 0 for a stream, which has ended. */
  status: number;
  text: string;
}

/**
 * Milliseconds to keep a connection open. The server could close an older one while a request is on its
 * way.
 */
const keepAliveMs = 4_000;
const agents = {
  'http:': new PlainAgent({ keepAlive: true, timeout: keepAliveMs }),
  'https:': new TlsAgent({ keepAlive: true, timeout: keepAliveMs }),
};

/** Fails with the error of the connection. */
export function forward({ url, socketPath, tls }: Target, sending: Sending): Promise<Came> {
  const { frame, headers, signal, onEvent } = sending;
  const isTls = url.startsWith('https:');
  const options = {
    method: 'POST',
    agent: agents[isTls ? 'https:' : 'http:'],
    signal,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': frame.body.length,
      ...mirrored(frame),
      ...headers,
    },
    ...(socketPath !== undefined && { socketPath }),
    ...tls,
  };
  return new Promise((resolve, reject) => {
    const sent = (isTls ? requestTls : requestPlain)(url, options, (response) => {
      const isStream = response.headers['content-type'] === 'text/event-stream';
      const read = isStream ? readEvents(response, onEvent) : readBody(response);
      read.then((text) => resolve({ status: isStream ? 0 : response.statusCode!, text }), reject);
    });
    sent.on('error', reject);
    sent.end(frame.body);
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function readEvents(
  response: IncomingMessage,
  onEvent: (data: string) => void,
): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk as string;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.startsWith('data: ')) onEvent(event.slice(6));
    }
  }
  return '';
}

const prefix = 'io.modelcontextprotocol/';

/** Repeats members of a modern message as HTTP headers, because a line of text has none. */
function mirrored(frame: Frame): Record<string, string> {
  if (!isModernFrame(frame)) return {};
  const { method, params } = frame;
  const own = params?.kind === 'object' ? params : undefined;
  const meta = own?.member('_meta');
  const version = meta?.kind === 'object' ? meta.member(`${prefix}protocolVersion`) : undefined;
  const name = own?.member(method === 'resources/read' ? 'uri' : 'name');
  return {
    'MCP-Protocol-Version': version?.kind === 'string' ? inHead(version.text()) : '2026-07-28',
    'Mcp-Method': method,
    ...(name?.kind === 'string' && { 'Mcp-Name': inHead(name.text()) }),
  };
}

function inHead(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
  const isCoded = text.startsWith('=?base64?');
  return isPlain && !isCoded ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
