// What holds for every answer of the server, whatever was asked: headers, the form of error bodies,
// and that nothing inside leaks out.
import { retryableCodes, statusOfCode } from './catalogue.js';
import { type ExactObject, NumberToken, parseExact } from './exact-json.js';
import type { Reply } from '../server/http.js';

const fixedHeaders: Record<string, string> = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

const leaks = /\.(ts|js|rs):\d+|\bat \w+ \(|node_modules|\/dist\/|0x[0-9a-f]{8}/;

function checkError(reply: Reply, body: ExactObject): string | undefined {
  const code = body.get('code');
  if (typeof code !== 'string' || !statusOfCode.has(code)) return `unknown code ${String(code)}`;
  if (statusOfCode.get(code) !== reply.status && code !== 'NOT_READY')
    return `${code} has status ${statusOfCode.get(code)}, got ${reply.status}`;
  const error = body.get('error');
  if (typeof error !== 'string' || error === '') return 'no `error` sentence';
  if (/\{\w+\}/.test(error)) return `\`error\` has an unfilled place: ${error}`;
  if (/[\x00-\x1f\x7f]/.test(error)) return '`error` holds control characters';
  if (leaks.test(reply.text)) return 'the answer shows the inside of the server';
  if (body.get('retryable') !== retryableCodes.has(code)) return '`retryable` is wrong';
  if (body.get('request_id') !== reply.headers.get('x-request-id'))
    return '`request_id` is not the X-Request-Id header';
  const errors = body.get('errors');
  if (errors !== undefined && (!Array.isArray(errors) || errors.length > 8))
    return '`errors` is no list of at most 8';
  return checkErrorHeaders(reply);
}

function checkErrorHeaders(reply: Reply): string | undefined {
  const { status, headers } = reply;
  if (status === 401 && headers.get('www-authenticate') !== 'Bearer') return 'no WWW-Authenticate';
  if (status === 405 && !headers.get('allow')) return 'no Allow';
  const wait = headers.get('retry-after');
  if ((status === 429 || status === 503) && !/^\d+$/.test(wait ?? '')) return 'no Retry-After';
  return undefined;
}

/** `transport`: the answer may come from the transport itself, which speaks HTML. */
export function checkAnswer(reply: Reply, transport: boolean): string | undefined {
  const type = reply.headers.get('content-type') ?? '';
  if (transport && !type.startsWith('application/json')) return undefined;
  if (reply.status === 204 || type.startsWith('text/')) return undefined;
  for (const [name, want] of Object.entries(fixedHeaders))
    if (reply.headers.get(name) !== want)
      return `header ${name} is ${reply.headers.get(name)}, wanted ${want}`;
  if (!/^[\w.-]{1,64}$/.test(reply.headers.get('x-request-id') ?? '')) return 'no X-Request-Id';
  if (reply.body.length === 0) return undefined;
  if (!reply.headers.has('content-length')) return 'no Content-Length';
  const body = parseExact(reply.text);
  if (reply.status < 400) return undefined;
  if (!(body instanceof Map) || body instanceof NumberToken) return 'the error is no object';
  // A health probe that is not ready answers its own members.
  return body.has('ready') ? undefined : checkError(reply, body);
}
