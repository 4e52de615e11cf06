// Parses HTTP/1.1 requests exactly by RFC 9112, as an oracle: returns the requests in a stream of bytes, up
// to the first violation of the standard. Written for readability, not for speed, and without knowledge of
// the server.

export interface OracleRequest {
  method: string;
  target: string;
  /** Names in lower case; values of repeated fields in order. */
  fields: Map<string, string[]>;
  body: string;
}

export interface Reading {
  requests: OracleRequest[];
  /** Why the stream ends here: everything read, more is to come, or a fault. */
  end: 'clean' | 'incomplete' | 'fault';
}

class Fault extends Error {}
class Incomplete extends Error {}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const badValue = /[\u0000-\u0008\u000a-\u001f\u007f]/;

class Reader {
  at = 0;
  constructor(
    readonly text: string,
    readonly passesNameless: boolean,
  ) {}

  /** The next line without its CR LF. */
  line(): string {
    const end = this.text.indexOf('\n', this.at);
    if (end < 0) throw new Incomplete();
    if (this.text[end - 1] !== '\r' || end - 1 < this.at) throw new Fault();
    const line = this.text.slice(this.at, end - 1);
    if (line.includes('\r')) throw new Fault();
    this.at = end + 1;
    return line;
  }

  take(count: number): string {
    if (this.text.length - this.at < count) throw new Incomplete();
    this.at += count;
    return this.text.slice(this.at - count, this.at);
  }

  end(): void {
    const pair = this.text.slice(this.at, this.at + 2);
    if (pair.length < 2 && '\r\n'.startsWith(pair)) throw new Incomplete();
    if (pair !== '\r\n') throw new Fault();
    this.at += 2;
  }
}

function fieldsOf(reader: Reader): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (;;) {
    const line = reader.line();
    if (line === '') return fields;
    if (reader.passesNameless && line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon < 0 || !token.test(name)) throw new Fault();
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '');
    if (badValue.test(value)) throw new Fault();
    const key = name.toLowerCase();
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
}

const quoted =
  '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"';
const word = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const blank = '[ \\t]*';
const extension = `${blank};${blank}${word}(?:${blank}=${blank}(?:${word}|${quoted}))?`;
const chunkHead = new RegExp(`^([0-9A-Fa-f]+)(?:${extension})*$`);

function chunked(reader: Reader): string {
  let body = '';
  for (;;) {
    const head = chunkHead.exec(reader.line());
    if (head === null || head[1]!.length > 12) throw new Fault();
    const size = Number.parseInt(head[1]!, 16);
    if (size === 0) break;
    body += reader.take(size);
    reader.end();
  }
  fieldsOf(reader);
  return body;
}

function bodyOf(reader: Reader, fields: Map<string, string[]>): string {
  const lengths = fields.get('content-length');
  const codings = fields.get('transfer-encoding');
  if (codings !== undefined) {
    if (lengths !== undefined || codings.join().toLowerCase() !== 'chunked') throw new Fault();
    return chunked(reader);
  }
  if (lengths === undefined) return '';
  if (lengths.length > 1 || !/^[0-9]{1,15}$/.test(lengths[0]!)) throw new Fault();
  return reader.take(Number(lengths[0]));
}

function requestOf(reader: Reader): OracleRequest {
  // Empty lines before a request are passed over (section 2.2).
  let first = reader.line();
  while (first === '') first = reader.line();
  const line = /^(\S+) ((?:https?:\/)?\/[\x21-\x7e]*) HTTP\/1\.1$/.exec(first);
  if (line === null || !token.test(line[1]!)) throw new Fault();
  const fields = fieldsOf(reader);
  if (fields.get('host')?.length !== 1) throw new Fault();
  return { method: line[1]!, target: line[2]!, fields, body: bodyOf(reader, fields) };
}

/**
 * Every octet of `text` is one character of it. `passesNameless`: fields without a name are passed
 * over, where the letter refuses them.
 */
export function readRequests(text: string, passesNameless = false): Reading {
  const reader = new Reader(text, passesNameless);
  const requests: OracleRequest[] = [];
  try {
    while (reader.at < text.length) requests.push(requestOf(reader));
    return { requests, end: 'clean' };
  } catch (error) {
    if (error instanceof Fault) return { requests, end: 'fault' };
    if (error instanceof Incomplete) return { requests, end: 'incomplete' };
    throw error;
  }
}
