// Streams of requests that were once read in two ways, kept for every run. A server ran a request after an
// error, where the start of a request is unknown, or in a body whose length the parser had not seen. The ids
// are those of the requests that contain `hidden-` ones.
import { hiddenPrefix } from './http-bytes.js';

interface KnownStream {
  ids: readonly string[];
  text: string;
}

const post = (id: string, fields: readonly string[], body: string, target = '/put'): string =>
  [`POST ${target} HTTP/1.1`, 'Host: localhost', `X-Request-Id: ${id}`, ...fields, '', body].join(
    '\r\n',
  );

const put = (id: string): string => {
  const body = `{"id":"${id}"}`;
  return post(id, [`Content-Length: ${body.length}`], body);
};

const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Returns a valid request, then one with `fields`, then another one. */
const behindFault = (id: string, ...fields: string[]): KnownStream => ({
  ids: [`${id}.0`, `${id}.1`],
  text: put(`${id}.0`) + post(`${id}.1`, fields, '') + put(`${hiddenPrefix}${id}.1`),
});

/** A request in a body that `fields` announce. */
const inBody = (id: string, method: string, ...fields: string[]): KnownStream => {
  const hidden = put(`${hiddenPrefix}${id}`);
  const isChunked = fields.some((field) => field.startsWith('Transfer-Encoding'));
  const length = isChunked ? [] : [`Content-Length: ${hidden.length}`];
  const body = isChunked ? chunked(hidden) : hidden;
  const text = post(id, [...fields, ...length], body);
  return { ids: [id], text: text.replace('POST', method) };
};

export const knownStreams: readonly KnownStream[] = [
  behindFault('host', 'Content-Length: 0', 'Host: other'),
  behindFault('host-alone', 'Host: other'),
  behindFault('length', 'Content-Length: 0', 'Content-Length: 0'),
  behindFault('length-word', 'Content-Length: '),
  {
    ids: ['coding.0', 'coding.1'],
    text:
      put('coding.0') +
      post('coding.1', ['Transfer-Encoding: gzip, chunked'], chunked('{}')) +
      put(`${hiddenPrefix}coding.1`),
  },
  ...['POST', 'GET', 'OPTIONS'].flatMap((method) => [
    inBody(`nameless-${method}`, method, ': b'),
    inBody(`nameless-chunked-${method}`, method, ': b', 'Transfer-Encoding: chunked'),
  ]),
  // The letter allows both: a target with a scheme, and an id that occurs twice.
  {
    ids: ['scheme'],
    text: post('scheme', ['Content_Length: 9'], '', 'http://localhost/echo') + put('next'),
  },
  {
    ids: ['twice'],
    text:
      put('twice') + post('other', ['Transfer-Encoding: chunked'], chunked('{}')) + put('twice'),
  },
];
