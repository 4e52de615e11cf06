// Generates streams of HTTP requests that are valid, nearly valid, or ambiguous: framing headers, chunks,
// line ends and headers are changed one or two at a time. Each request carries a number. The bodies contain
// requests that the server must never run as requests of the connection.
import type { Random } from '../random.js';

/** Number of a request that must not run unless the standard makes it a request. */
export const hiddenPrefix = 'hidden-';

function payload(random: Random, id: string): string {
  if (random.chance(0.3)) return `{"id":"${id}"}`;
  const inner = `{"id":"${hiddenPrefix}${id}"}`;
  const end = random.pick(['\r\n', '\n']);
  const head = [
    'POST /put HTTP/1.1',
    'Host: localhost',
    `X-Request-Id: ${hiddenPrefix}${id}`,
    `Content-Length: ${inner.length}`,
  ];
  const hidden = `${head.join(end)}${end}${end}${inner}`;
  return random.pick([
    `{"id":"${id}","x":"${hidden}"}`,
    hidden,
    `0\r\n\r\n${hidden}`,
    `\r\n${hidden}`,
    `{}${hidden}`,
  ]);
}

function lengthField(random: Random, length: number): string[] {
  const at = (value: string | number): string => `Content-Length: ${value}`;
  if (random.chance(0.6)) return [at(length)];
  return random.pick([
    [at(length), at(length)],
    [at(length), at(0)],
    [at(2), at(length)],
    [at(`${length}, ${length}`)],
    [at(`+${length}`)],
    [at(`-${length}`)],
    [at(`0${length}`)],
    [at(`0x${length.toString(16)}`)],
    [at(`${length}e0`)],
    [at('')],
    [at(`${length} `)],
    [`Content-Length:\t${length}`],
    [at(Math.max(0, length - 1))],
    [at(length + 1)],
    [at(0)],
    [at('99999999999999999999')],
    [`Content-Length : ${length}`],
    [`Content_Length: ${length}`],
    [],
  ]);
}

function codingField(random: Random, length: number): string[] {
  const at = (value: string): string => `Transfer-Encoding: ${value}`;
  if (random.chance(0.6)) return [at('chunked')];
  return random.pick([
    [at('Chunked')],
    [at('identity')],
    [at('xchunked')],
    [at('chunked, chunked')],
    [at('gzip, chunked')],
    [at('chunked, identity')],
    [at('"chunked"')],
    [at('chunked;q=1')],
    [at('')],
    [at('chunked'), at('chunked')],
    [at('chunked'), at('identity')],
    [at('chunked'), `Content-Length: ${length}`],
    ['Content-Length: 5', at('chunked')],
    ['Transfer-Encoding : chunked'],
    ['X: y', ' Transfer-Encoding: chunked'],
    [at('\u000bchunked')],
    ['Transfer-Encoding:chunked'],
  ]);
}

/** One chunk, with its framing bent now and then. */
function chunk(random: Random, data: string): string {
  const size = data.length.toString(16);
  if (random.chance(0.7)) return `${size}\r\n${data}\r\n`;
  return random.pick([
    `${size};a=b\r\n${data}\r\n`,
    `${size};a="\r\n${data}\r\n`,
    `${size} ; name=1\r\n${data}\r\n`,
    `${size};\r\n${data}\r\n`,
    `${size}\n${data}\r\n`,
    `${size}\r\n${data}\n`,
    `${size}\r\n${data}`,
    `${size}\r\n${data}XX`,
    `${size}\r${data}\r\n`,
    ` ${size}\r\n${data}\r\n`,
    `${size} \r\n${data}\r\n`,
    `0x${size}\r\n${data}\r\n`,
    `+${size}\r\n${data}\r\n`,
    `-${size}\r\n${data}\r\n`,
    `000${size.toUpperCase()}\r\n${data}\r\n`,
    `${(data.length + 1).toString(16)}\r\n${data}\r\n`,
    `${(data.length - 1).toString(16)}\r\n${data}\r\n`,
    `g\r\n${data}\r\n`,
    `ffffffffffffffff${size}\r\n${data}\r\n`,
    `\r\n${size}\r\n${data}\r\n`,
  ]);
}

function chunks(random: Random, text: string): string {
  const cut = 1 + random.below(text.length);
  const pieces = random.chance(0.5) ? [text] : [text.slice(0, cut), text.slice(cut)];
  const body = pieces.filter((piece) => piece !== '').map((piece) => chunk(random, piece));
  const end = random.chance(0.75)
    ? '0\r\n\r\n'
    : random.pick([
        '0\r\nX: y\r\n\r\n',
        '0\r\nContent-Length: 30\r\n\r\n',
        '0;a=b\r\n\r\n',
        '00000\r\n\r\n',
        '0\n\n',
        '0\r\n',
        '0\r\nXX',
        '',
        '0\r\n\r\n\r\n',
      ]);
  return body.join('') + end;
}

function requestLine(random: Random, method: string, path: string): string {
  if (random.chance(0.93)) return `${method} ${path} HTTP/1.1`;
  return random.pick([
    `${method} ${path} HTTP/1.0`,
    `${method} ${path} HTTP/1.2`,
    `${method} ${path} HTTP/2.0`,
    `${method}  ${path} HTTP/1.1`,
    `${method} ${path}  HTTP/1.1`,
    `${method} ${path}`,
    `${method} ${path} http/1.1`,
    `${method} http://localhost${path} HTTP/1.1`,
    `\r\n${method} ${path} HTTP/1.1`,
    ` ${method} ${path} HTTP/1.1`,
  ]);
}

function strayField(random: Random): string[] {
  if (random.chance(0.8)) return [];
  return random.pick([
    ['Connection: close'],
    ['Connection: keep-alive'],
    ['Connection: upgrade', 'Upgrade: websocket'],
    ['Expect: 100-continue'],
    ['Host: other'],
    ['X-A: b\u0000c'],
    ['X-A : b'],
    [' X-A: b'],
    ['X-A: b', '\tfolded'],
    ['X-A'],
    [': b'],
    [`X-A: ${'a'.repeat(9_000)}`],
    ['Content-Type: text/plain'],
    ['Content-Encoding: gzip'],
  ]);
}

/** A request as it should be: about half of all, so that bent ones stand between others. */
function rightRequest(random: Random, id: string, body: string): string {
  const path = random.pick(['/put', '/echo', '/nope']);
  const framing = random.chance(0.5)
    ? [`Content-Length: ${body.length}`, body]
    : ['Transfer-Encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`];
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n${framing[0]}`;
  return `${head}\r\n\r\n${framing[1]}`;
}

/** One request, right or with a few of its parts bent. */
export function makeRequest(random: Random, id: string): string {
  const body = payload(random, id);
  if (random.chance(0.5)) return rightRequest(random, id, body);
  const method = random.chance(0.8) ? 'POST' : random.pick(['GET', 'HEAD', 'PUT', 'OPTIONS']);
  const path = random.pick(['/put', '/put', '/put', '/echo', '/version', '/nope']);
  const isChunked = random.chance(0.5);
  const framing = isChunked ? codingField(random, body.length) : lengthField(random, body.length);
  const stray = strayField(random);
  const more = random.chance(0.5) ? [...stray, ...framing] : [...framing, ...stray];
  const fields = [`X-Request-Id: ${id}`, ...more];
  const end = random.chance(0.95) ? '\r\n' : random.pick(['\n', '\r', '\r\r\n']);
  const head = [requestLine(random, method, path), 'Host: localhost', ...fields].join(end);
  return `${head}${end}${end}${isChunked ? chunks(random, body) : body}`;
}

/** Bytes changed, added or lost anywhere. */
export function damage(random: Random, text: string): string {
  const at = random.below(text.length);
  const octet = String.fromCharCode(random.below(256));
  const rest = random.pick([text.slice(at + 1), text.slice(at), text.slice(at + 3)]);
  return text.slice(0, at) + random.pick([octet, '', '\r', '\n', '\r\n', '0']) + rest;
}
