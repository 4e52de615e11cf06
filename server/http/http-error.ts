// From errors to answers: the only file that knows status codes. Owns the form of an error body
// (http.md 5.1).
import {
  type ErrorArgs,
  type ErrorCode,
  type ErrorData,
  errorHint,
  errorMessage,
  isRetryable,
} from '../../engine/index.js';

import { type HeaderList, jsonHeaders, noHeaders } from './header-list.js';
import { okStatus } from './status-line.js';

const bad = '400 Bad Request';
const forbidden = '403 Forbidden';
const missing = '404 Not Found';
const conflict = '409 Conflict';
const large = '413 Payload Too Large';
const media = '415 Unsupported Media Type';
const many = '429 Too Many Requests';
const internal = '500 Internal Server Error';
const unavailable = '503 Service Unavailable';
const late = '504 Gateway Timeout';
const full = '507 Insufficient Storage';

/** Codes that are not listed are faults of the request. */
const statuses: Partial<Record<ErrorCode, string>> = {
  HOST_NOT_ALLOWED: forbidden,
  ORIGIN_NOT_ALLOWED: forbidden,
  PROTECTED_MODE: forbidden,
  FEATURE_DISABLED: forbidden,
  NOT_FOUND: missing,
  TENANT_UNKNOWN: missing,
  SHARD_MISSING: unavailable,
  TENANT_CLOSED: unavailable,
  METHOD_NOT_ALLOWED: '405 Method Not Allowed',
  BODY_TOO_LARGE: large,
  UNSUPPORTED_MEDIA_TYPE: media,
  UNSUPPORTED_ENCODING: media,
  API_KEY_REQUIRED: '401 Unauthorized',
  INVALID_API_KEY: forbidden,
  FORBIDDEN: forbidden,
  RATE_LIMITED: many,
  SHARE_EXCEEDED: many,
  VECTOR_CAPACITY: full,
  VECTORS_SKIPPED: unavailable,
  NO_VALUE_FOUND: missing,
  NO_PATH: missing,
  EXPECTED_ONE: conflict,
  UNIQUE_VIOLATION: conflict,
  CONNECTION_NOT_FOUND: missing,
  SESSION_ELSEWHERE: '421 Misdirected Request',
  TOO_MANY_SESSIONS: many,
  IDEMPOTENCY_MISMATCH: conflict,
  SESSION_BUSY: many,
  RESULT_TOO_LARGE: large,
  QUERY_MEMORY: large,
  QUERY_WORK: large,
  TXN_TOO_LARGE: large,
  DROP_TOO_LARGE: large,
  QUERY_TIMEOUT: late,
  OVERLOADED: unavailable,
  RESOURCE_EXHAUSTED: unavailable,
  SCHEMA_CHANGED: unavailable,
  NOT_READY: unavailable,
  SHUTTING_DOWN: unavailable,
  READ_ONLY: unavailable,
  STORAGE_LOST: unavailable,
  INSUFFICIENT_STORAGE: full,
  NO_LEADER: unavailable,
  NOT_LEADER: unavailable,
  NODE_LEADS: conflict,
  NODE_LEFT: unavailable,
  NODE_NAME_TAKEN: unavailable,
  NODE_DIFFERS: unavailable,
  OUTCOME_UNKNOWN: unavailable,
  REPLICA_BEHIND: unavailable,
  PROGRAM_CHANGED: conflict,
  SCHEMA_AHEAD: unavailable,
  DIVERGED: unavailable,
  LOG_LOST: unavailable,
  LOG_UNTRUSTED: unavailable,
  LOG_TRUNCATED: unavailable,
  LOG_UNAVAILABLE: unavailable,
  LOG_FULL: full,
  EMBEDDING_NOT_CONFIGURED: internal,
  EMBEDDING_FAILED: internal,
  EMBEDDING_UNAVAILABLE: unavailable,
  EMBEDDING_TIMEOUT: late,
  DATA_CORRUPT: internal,
  INTERNAL: internal,
  CONFIG_INVALID: internal,
  SOURCE_INVALID: internal,
  SCHEMA_INCOMPATIBLE: conflict,
  IMPORT_KNOWN: conflict,
  ROW_REFUSED: bad,
  DATA_DIR_BAD: internal,
  FILE_UNUSABLE: internal,
  DATA_LOCKED: internal,
  SERVER_UNREACHABLE: internal,
  FORMAT_TOO_NEW: unavailable,
  LOG_UNSAFE: internal,
  PORT_IN_USE: internal,
  LISTEN_FAILED: internal,
};

/** Status lines of all that a query can answer, success first. */
export const queryStatuses: readonly string[] = [
  okStatus,
  ...new Set([bad, ...Object.values(statuses)]),
];

/** Status line text of an error, e.g. `404 Not Found`. */
export function statusOf(code: ErrorCode): string {
  return statuses[code] ?? bad;
}

export function isServerFault(code: ErrorCode): boolean {
  return statusOf(code) === internal;
}

const errorsMax = 8;
/** Above every message of our own; what a request brings is cut to 64 where the error is made. */
const textMax = 512;

function printArgs(args: ErrorArgs): string {
  const members = Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? value.slice(0, textMax) : value;
    const json = typeof text === 'bigint' ? String(text) : JSON.stringify(text);
    return `${JSON.stringify(name)}:${json}`;
  });
  return `{${members.join(',')}}`;
}

/** The members that the main error and each entry of `errors` share, without braces. */
function printCore(data: ErrorData): string {
  let text = `"error":${JSON.stringify(errorMessage(data))},"code":"${data.code}"`;
  if (data.path !== undefined) text += `,"path":${JSON.stringify(data.path)}`;
  if (Object.keys(data.args).length > 0) text += `,"args":${printArgs(data.args)}`;
  return text;
}

/** The body of http.md 5.1, members in its order. */
export function errorBody(fault: ErrorData, requestId: string): string {
  // A defect's sentence names the request; whoever threw it did not know which it was.
  const data =
    fault.code === 'INTERNAL'
      ? { ...fault, args: { ...fault.args, request_id: requestId } }
      : fault;
  let text = `{${printCore(data)}`;
  const hint = errorHint(data);
  if (hint !== undefined) text += `,"hint":${JSON.stringify(hint)}`;
  text += `,"retryable":${isRetryable(data.code)}`;
  if (data.errors !== undefined && data.errors.length > 1) {
    const entries = data.errors.slice(0, errorsMax).map((entry) => `{${printCore(entry)}}`);
    text += `,"errors":[${entries.join(',')}]`;
  }
  return `${text},"request_id":"${requestId}"}`;
}

/** What an error adds to the header of its answer. */
export function errorHeaders(data: ErrorData): HeaderList {
  const status = statusOf(data.code);
  if (data.code === 'API_KEY_REQUIRED') return [['WWW-Authenticate', 'Bearer']];
  if (data.code === 'METHOD_NOT_ALLOWED') return [['Allow', String(data.args.allow)]];
  if (status !== many && status !== unavailable) return noHeaders;
  return [['Retry-After', String(data.args.seconds ?? 1)]];
}

/** A whole answer for bytes that are no request; `what` is said to the client. */
export function framingRefusal(what: string): string {
  const body = errorBody({ code: 'BAD_FRAMING', args: { what } }, 'none');
  return rawAnswer(bad, body);
}

/** Without a body: a code has one status, and this refusal is the transport's own (http.md 3.2). */
export const headersTooLargeRefusal =
  'HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

function rawAnswer(status: string, body: string): string {
  const headers: HeaderList = [
    ...jsonHeaders,
    ['Content-Length', String(Buffer.byteLength(body))],
    ['X-Request-Id', 'none'],
    ['Connection', 'close'],
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`;
}
