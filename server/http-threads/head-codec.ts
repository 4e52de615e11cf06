// Encodes the header of a request as one text for the main thread: one line for each field of an exchange.
// Invariant: decoding returns what was encoded. No field contains a line feed, because the transport
// refuses it.
import type { Exchange } from '../http/exchange.js';

const texts = [
  'method',
  'path',
  'query',
  'host',
  'origin',
  'fetchSite',
  'preflightMethod',
  'apiKey',
  'authorization',
  'contentType',
  'contentEncoding',
  'contentLength',
  'transferEncoding',
  'requestIdHeader',
  'accept',
  'acceptEncoding',
  'timeoutHeader',
  'traceparent',
  'forwardedFor',
  'mcpVersion',
  'mcpMethod',
  'mcpName',
  'ifNoneMatch',
  'accessHeader',
  'consistency',
  'after',
  'tenant',
  'partial',
  'passedOn',
  'nodeProof',
  'embeddedBy',
] as const;

const counts = ['hostCount', 'contentLengthCount', 'transferEncodingCount'] as const;

export function writeHead(exchange: Exchange): string {
  const { idempotencyKey } = exchange;
  let text = exchange.peer();
  for (const name of texts) text += `\n${exchange[name]}`;
  for (const name of counts) text += `\n${exchange[name]}`;
  text += exchange.forwarded ? '\n1' : '\n';
  // An empty idempotency key differs from a missing one.
  return idempotencyKey === undefined ? text : `${text}\n${idempotencyKey}`;
}

/** Sets the fields of `exchange`. Returns the address of the client. */
export function readHead(text: string, exchange: Exchange): string {
  const lines = text.split('\n');
  let at = 1;
  for (const name of texts) exchange[name] = lines[at++]!;
  for (const name of counts) exchange[name] = Number(lines[at++]);
  exchange.forwarded = lines[at++] === '1';
  exchange.idempotencyKey = lines[at];
  return lines[0]!;
}
