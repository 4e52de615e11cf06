// The request headers that the server uses. One table makes the fields of an exchange, the reading of a
// header, and the text in which the HTTP threads pass a header to the main thread
// (http-threads/head-codec.ts). Invariant: the server drops every header field that has no row here.

/** The header that counts how often it occurs, because a repeat is an error. */
type Counter = 'hostCount' | 'contentLengthCount' | 'transferEncodingCount';

/** Name of the header in lower case, field of the exchange, and counter of the header if it has one. */
const rows = [
  ['host', 'host', 'hostCount'],
  ['content-type', 'contentType'],
  ['content-length', 'contentLength', 'contentLengthCount'],
  ['transfer-encoding', 'transferEncoding', 'transferEncodingCount'],
  ['content-encoding', 'contentEncoding'],
  ['x-api-key', 'apiKey'],
  ['authorization', 'authorization'],
  ['origin', 'origin'],
  ['sec-fetch-site', 'fetchSite'],
  ['access-control-request-method', 'preflightMethod'],
  ['accept', 'accept'],
  ['accept-encoding', 'acceptEncoding'],
  /** Entity tags of the documents that the client has cached. */
  ['if-none-match', 'ifNoneMatch'],
  ['x-request-id', 'requestIdHeader'],
  ['x-request-timeout-ms', 'timeoutHeader'],
  ['traceparent', 'traceparent'],
  /** Undefined if the header is absent, which differs from an empty header. */
  ['idempotency-key', 'idempotencyKey'],
  /** Addresses that proxies have seen: all lines of the header, joined with commas. */
  ['x-forwarded-for', 'forwardedFor'],
  /** An MCP client repeats parts of its message in these headers. */
  ['mcp-protocol-version', 'mcpVersion'],
  ['mcp-method', 'mcpMethod'],
  ['mcp-name', 'mcpName'],
  /** With `read` a caller gives up the right to write, for this request. */
  ['x-trellis-access', 'accessHeader'],
  /**
   * How fresh the answer must be, and the position that the node must have reached
   * (cluster/forward/consistency.ts).
   */
  ['trellis-consistency', 'consistency'],
  ['trellis-after', 'after'],
  /** With `allow` the client accepts an answer in which some shards are missing. */
  ['trellis-partial', 'partial'],
  /** Name of the database, on a server with several databases. */
  ['trellis-tenant', 'tenant'],
  /** Proof that the sender is a node of the cluster (cluster/node-auth.ts). */
  ['trellis-node', 'nodeProof'],
  /**
   * Set if another node of the cluster forwarded this request: the program of that node, or a word where the
   * program does not matter.
   */
  ['trellis-passed-on', 'forwardedProgram'],
  /** Bytes of embeddings at the end of the body, and the proof of the node that computed them. */
  ['trellis-embeddings', 'embeddedBy'],
] as const satisfies readonly (readonly [string, string, Counter?])[];

type Field = (typeof rows)[number][1];
type Fields = Record<Exclude<Field, 'idempotencyKey'>, string> & {
  idempotencyKey: string | undefined;
};

/** Values in the order of the table. */
type Values = (string | undefined)[];

const counters: readonly (Counter | undefined)[] = rows.map(([, , counter]) => counter);
const rowOf = (header: string): number => rows.findIndex(([name]) => name === header);
const keyRow = rowOf('idempotency-key');
const forwardedForRow = rowOf('x-forwarded-for');
const noValues: Values = rows.map((_, row) => (row === keyRow ? undefined : ''));

/** Other headers that proxies add to the requests that they forward. */
const fromProxies = [
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-envoy-external-address',
];

interface KnownName {
  name: string;
  /** Row of the table; -1 for a field of a proxy. */
  row: number;
}

/** Known names by their length. To compare with a few names is faster than to hash a new string. */
const byLength: KnownName[][] = [];
for (const name of [...rows.map(([name]) => name), ...fromProxies]) {
  (byLength[name.length] ??= []).push({ name, row: rowOf(name) });
}

class HeaderValues {
  values: Values = noValues.slice();
  hostCount = 0;
  contentLengthCount = 0;
  transferEncodingCount = 0;
  /** True if a proxy forwarded this request, as shown by a header that does not contain the client's address. */
  isProxied = false;

  /**
   * Stores one header field; `name` is in lower case. The first value of a repeated field wins, except for
   * X-Forwarded-For: a client that sends its own line must not hide the line that its proxy adds
   * (RFC 9110, 5.3).
   */
  keepHeader(name: string, value: string): void {
    const names = byLength[name.length];
    if (names !== undefined) {
      for (const known of names) {
        if (known.name === name) return this.#keep(known.row, value);
      }
    }
    if (name.startsWith('x-forwarded-')) this.isProxied = true;
  }

  #keep(row: number, value: string): void {
    if (row < 0) {
      this.isProxied = true;
      return;
    }
    const { values } = this;
    const counter = counters[row];
    if (counter !== undefined) this[counter]++;
    const known = values[row];
    if (row === keyRow) values[row] = known ?? value;
    else if (known === '') values[row] = value;
    else if (row === forwardedForRow) values[row] = `${known}, ${value}`;
    // An empty value names no client, but a proxy forwarded the request.
    if (row === forwardedForRow && value === '') this.isProxied = true;
  }
}

for (const [row, [, field]] of rows.entries()) {
  Object.defineProperty(HeaderValues.prototype, field, {
    get(this: HeaderValues) {
      return this.values[row];
    },
    set(this: HeaderValues, value: string) {
      this.values[row] = value;
    },
  });
}

/** The header fields of a request. An absent header is the empty text. */
export type RequestHeaders = HeaderValues & Fields;
export const RequestHeaders = HeaderValues as new () => RequestHeaders;

/** The values as one text with a line for each row. No value contains a line feed. */
export function writeValues({ values, idempotencyKey }: RequestHeaders): string {
  // An empty idempotency key differs from a missing one.
  return `${idempotencyKey === undefined ? '' : '1'}\n${values.join('\n')}`;
}

/** Sets the values from the lines that `writeValues` made; `at` is the index of the first line. */
export function readValues(lines: readonly string[], at: number, headers: RequestHeaders): void {
  const values: Values = lines.slice(at + 1, at + 1 + rows.length);
  if (lines[at] === '') values[keyRow] = undefined;
  headers.values = values;
}
