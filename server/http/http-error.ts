// Turns errors into HTTP responses. This file owns the status lines and the form of an error body.
import {
  type ErrorArgs,
  type ErrorCode,
  type ErrorData,
  type ErrorStatus,
  errorHint,
  errorMessage,
  errorStatus,
  isRetryable,
} from '../../engine/internal.js';

import { type HeaderList, jsonHeaders, noHeaders, okStatus } from './header-list.js';

const bad = '400 Bad Request';
const many = '429 Too Many Requests';
const internal = '500 Internal Server Error';
const unavailable = '503 Service Unavailable';

const statusLines: Record<ErrorStatus, string> = {
  400: bad,
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  413: '413 Payload Too Large',
  415: '415 Unsupported Media Type',
  421: '421 Misdirected Request',
  429: many,
  500: internal,
  503: unavailable,
  504: '504 Gateway Timeout',
  507: '507 Insufficient Storage',
};

/** Status lines of all responses of a query, success first. */
export const queryStatuses: readonly string[] = [okStatus, ...Object.values(statusLines)];

/** Status line of an error, for example `404 Not Found`. */
export function statusOf(code: ErrorCode): string {
  return statusLines[errorStatus(code)];
}

export function isServerError(code: ErrorCode): boolean {
  return statusOf(code) === internal;
}

const errorsMax = 8;
/**
 * Longer than every message of this program. Text from a request is cut to 64 characters where the error is
 * made.
 */
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

/** Prints an error body with its members in their documented order. */
export function errorBody(error: ErrorData, requestId: string): string {
  // An internal error names the request in its message. The code that threw the error does not know the
  // request.
  const data =
    error.code === 'INTERNAL'
      ? { ...error, args: { ...error.args, request_id: requestId } }
      : error;
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

/** Header fields that an error adds to its answer. */
export function errorHeaders(data: ErrorData): HeaderList {
  const status = statusOf(data.code);
  if (data.code === 'API_KEY_REQUIRED') return [['WWW-Authenticate', 'Bearer']];
  if (data.code === 'METHOD_NOT_ALLOWED') return [['Allow', String(data.args.allow)]];
  if (status !== many && status !== unavailable) return noHeaders;
  return [['Retry-After', String(data.args.seconds ?? 1)]];
}

/** A complete answer to bytes that are not a request. The message tells the client `what` is wrong. */
export function framingRefusal(what: string): string {
  const body = errorBody({ code: 'BAD_FRAMING', args: { what } }, 'none');
  return rawAnswer(bad, body);
}

/** Has no body: a code has one status, and only the transport sends this refusal. */
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
