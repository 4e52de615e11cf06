// Statuses and bodies of errors against the catalogue of http.md 5.2, and the parts of the server
// that are pure functions.
import { describe, expect, it } from 'vitest';
import { toErrorData, restoreError } from '../../engine/base/errors.js';
import { compile, type ErrorCode, errorCodes } from '../../engine/internal.js';
import { isLoopback, printAddress } from '../../server/http/address.js';
import { errorBody, errorHeaders, statusOf } from '../../server/http/http-error.js';
import { introspection } from '../../server/handlers/introspect.js';
import { TrellisError as ClientError } from '../../server/client/error.js';
import { scopeNames } from '../../server/auth/keys.js';
import { createLog } from '../../server/telemetry/log.js';
import { printMetrics, RouteMetrics } from '../../server/telemetry/metrics.js';
import { normalPath } from '../../server/pipeline/router.js';

/** Status of every code, as published; 0: never travels over HTTP. */
const published: Record<ErrorCode, number> = {
  BAD_FRAMING: 400,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  PROTECTED_MODE: 403,
  FEATURE_DISABLED: 403,
  NOT_FOUND: 404,
  TENANT_UNKNOWN: 404,
  SHARD_MISSING: 503,
  TENANT_CLOSED: 503,
  VECTORS_SKIPPED: 503,
  METHOD_NOT_ALLOWED: 405,
  QUERY_INVALID: 400,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNSUPPORTED_ENCODING: 415,
  API_KEY_REQUIRED: 401,
  INVALID_API_KEY: 403,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  SHARE_EXCEEDED: 429,
  BAD_JSON: 400,
  BAD_UTF8: 400,
  BAD_STRING: 400,
  BODY_NOT_OBJECT: 400,
  JSON_TOO_DEEP: 400,
  JSON_TOO_MANY_MEMBERS: 400,
  DUPLICATE_MEMBER: 400,
  UNKNOWN_MEMBER: 400,
  PARAM_MISSING: 400,
  PARAM_TYPE: 400,
  PARAM_RANGE: 400,
  PARAM_VALUE: 400,
  VALUE_TOO_LARGE: 400,
  INDEX_KEY_TOO_LONG: 400,
  TEXT_TOO_LONG: 400,
  VECTOR_EMPTY: 400,
  VECTOR_TOO_LONG: 400,
  VECTOR_NOT_FINITE: 400,
  VECTOR_DIMENSION: 400,
  VECTOR_CAPACITY: 507,
  NO_VALUE_FOUND: 404,
  NO_PATH: 404,
  EDGE_ENDPOINT_TYPE: 400,
  EXPECTED_ONE: 409,
  UNIQUE_VIOLATION: 409,
  ARITHMETIC: 400,
  CONNECTION_NOT_FOUND: 404,
  SESSION_ELSEWHERE: 421,
  TOO_MANY_SESSIONS: 429,
  IDEMPOTENCY_KEY_INVALID: 400,
  IDEMPOTENCY_MISMATCH: 409,
  SESSION_BUSY: 429,
  SCHEMA_CHANGED: 503,
  UNKNOWN_TYPE: 400,
  UNKNOWN_PROPERTY: 400,
  UNKNOWN_OPERATOR: 400,
  UNKNOWN_TOOL: 400,
  FILTER_TOO_DEEP: 400,
  FILTER_TOO_LARGE: 400,
  RESULT_TOO_LARGE: 413,
  QUERY_MEMORY: 413,
  QUERY_WORK: 413,
  TXN_TOO_LARGE: 413,
  DROP_TOO_LARGE: 413,
  QUERY_TIMEOUT: 504,
  OVERLOADED: 503,
  RESOURCE_EXHAUSTED: 503,
  NOT_READY: 503,
  SHUTTING_DOWN: 503,
  DATABASE_CLOSED: 503,
  READ_ONLY: 503,
  STORAGE_LOST: 503,
  INSUFFICIENT_STORAGE: 507,
  NO_LEADER: 503,
  NOT_LEADER: 503,
  NODE_LEADS: 409,
  NODE_LEFT: 503,
  NODE_NAME_TAKEN: 503,
  NODE_DIFFERS: 503,
  OUTCOME_UNKNOWN: 503,
  REPLICA_BEHIND: 503,
  PROGRAM_CHANGED: 409,
  SCHEMA_AHEAD: 503,
  DIVERGED: 503,
  LOG_LOST: 503,
  LOG_UNTRUSTED: 503,
  LOG_TRUNCATED: 503,
  LOG_UNAVAILABLE: 503,
  LOG_FULL: 507,
  EMBEDDING_NOT_CONFIGURED: 500,
  EMBEDDING_FAILED: 500,
  EMBEDDING_REFUSED: 400,
  EMBEDDING_MODEL_CHANGED: 409,
  EMBEDDING_UNAVAILABLE: 503,
  EMBEDDING_TIMEOUT: 504,
  DATA_CORRUPT: 500,
  INTERNAL: 500,
  CONFIG_INVALID: 0,
  SOURCE_INVALID: 0,
  SCHEMA_INCOMPATIBLE: 0,
  IMPORT_KNOWN: 409,
  ROW_REFUSED: 400,
  DATA_DIR_BAD: 0,
  FILE_UNUSABLE: 0,
  DATA_LOCKED: 0,
  SERVER_UNREACHABLE: 0,
  FORMAT_TOO_NEW: 503,
  LOG_UNSAFE: 0,
  PORT_IN_USE: 0,
  LISTEN_FAILED: 0,
};

describe('errors', () => {
  it.each(errorCodes.filter((code) => published[code] !== 0))('%s', (code) => {
    expect(Number(statusOf(code).slice(0, 3))).toBe(published[code]);
    const retryAfter = [429, 503].includes(published[code]);
    expect(errorHeaders({ code, args: {} }).some(([name]) => name === 'Retry-After')).toBe(
      retryAfter,
    );
    const body = JSON.parse(errorBody({ code, args: {} }, 'r'));
    expect(body).toMatchObject({ code, request_id: 'r' });
    expect(typeof body.retryable).toBe('boolean');
  });
  it('prints exact integers and a single error without a list', () => {
    const data = {
      code: 'PARAM_RANGE',
      args: { param: 'v', min: 0, max: 2n ** 64n - 1n, got: -1 },
    } as const;
    const body = errorBody({ ...data, path: '/v', errors: [data] }, 'r');
    expect(body).toContain('"args":{"param":"v","min":0,"max":18446744073709551615,"got":-1}');
    expect(body).not.toContain('"errors"');
  });
  it('lists at most eight errors', () => {
    const one = { code: 'PARAM_MISSING', args: { param: 'a' } } as const;
    const body = JSON.parse(errorBody({ ...one, errors: Array(20).fill(one) }, 'r'));
    expect(body.errors).toHaveLength(8);
  });
});

describe('introspection', () => {
  it("has HelixDB's form", () => {
    const text = `N::User { INDEX name: String, tags: [String] }
V::Emb { tag: String }
E::Knows { From: User, To: Emb, Properties: { since: Date } }
QUERY find(name: String, limit?: I64, vec: [F64]) =>
  u <- N<User>({name: name})
  RETURN u
QUERY add(name: String) =>
  u <- AddN<User>({name: name})
  RETURN u
`;
    const { program, diagnostics } = compile([{ path: 'a.hx', text }], { compat: false });
    expect(diagnostics.filter((d) => d.severity === 'error')).toEqual([]);
    const printed = introspection(program!);
    expect(printed).toContain('\n  "schema"');
    expect(JSON.parse(printed)).toEqual({
      schema: {
        nodes: [
          {
            name: 'User',
            properties: { id: 'ID', label: 'String', name: 'String', tags: 'Array(String)' },
          },
        ],
        vectors: [
          {
            name: 'Emb',
            properties: {
              id: 'ID',
              label: 'String',
              data: 'Array(F64)',
              score: 'F64',
              tag: 'String',
            },
          },
        ],
        edges: [{ name: 'Knows', from: 'User', to: 'Emb', properties: { since: 'Date' } }],
      },
      queries: [
        {
          name: 'find',
          parameters: { name: 'String', limit: 'I64', vec: 'Array(F64)' },
          returns: ['u'],
          optional: ['limit'],
          writes: false,
          mcp: false,
        },
        {
          name: 'add',
          parameters: { name: 'String' },
          returns: ['u'],
          optional: [],
          writes: true,
          mcp: false,
        },
      ],
    });
  });
});

describe('small parts', () => {
  it.each([
    ['/a', '/a'],
    ['//a', '/a'],
    ['///a/', '/a'],
    ['/a//', '/a/'],
    ['/', '/'],
    ['//', '/'],
    ['/a/b/', '/a/b'],
  ])('path %s is %s', (raw, path) => expect(normalPath(raw)).toBe(path));

  it.each([
    ['get*', 'getUser', true],
    ['get*', 'get', true],
    ['get', 'getUser', false],
    ['*', 'x', true],
    ['a*b', 'axb', false],
  ])('scope %s covers %s: %s', (scope, query, covered) =>
    expect(scopeNames([scope], query)).toBe(covered),
  );

  it.each([
    [[127, 0, 0, 1], '127.0.0.1', true],
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], '::1', true],
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 1, 2, 3], '127.1.2.3', true],
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1], '10.0.0.1', false],
    [[10, 0, 0, 1], '10.0.0.1', false],
    [[32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], '2001:db8:0:0:0:0:0:1', false],
  ])('address %o is %s', (bytes, text, loopback) => {
    expect(printAddress(Uint8Array.from(bytes))).toBe(text);
    expect(isLoopback(text)).toBe(loopback);
  });

  it('escapes what could forge a log line', () => {
    for (const format of ['json', 'text'] as const) {
      const lines: string[] = [];
      const log = createLog({ level: 'info', format, write: (line) => lines.push(line) });
      log('debug', 'unseen');
      log('info', 'a\nb', { path: '\u0000\u009b\u2028', big: 1n });
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
    }
  });

  it('prints cumulative buckets', () => {
    const route = new RouteMetrics('q');
    for (const seconds of [0.0001, 0.003, 20]) route.record('200 OK', seconds, 1, 2);
    const text = printMetrics(route.samples()).toString();
    expect(text).toContain('trellis_request_duration_seconds_bucket{route="q",le="0.0005"} 1\n');
    expect(text).toContain('trellis_request_duration_seconds_bucket{route="q",le="0.005"} 2\n');
    expect(text).toContain('trellis_request_duration_seconds_bucket{route="q",le="+Inf"} 3\n');
    expect(text).toContain('trellis_request_bytes_total{route="q"} 3\n');
    expect(text.match(/# TYPE trellis_request_duration_seconds histogram/g)).toHaveLength(1);
  });
});

it('a defect of another thread keeps its trace for the log, a refusal has none', () => {
  const defect = restoreError({ code: 'INTERNAL', args: {} }, 'TypeError: there\n    at it');
  expect(toErrorData(defect)).toMatchObject({ error: defect.data, stack: defect.stack });
  const refusal = { code: 'NO_LEADER', args: {} } as const;
  expect(toErrorData(restoreError(refusal, undefined))).toEqual({ error: refusal });
});

it('an error of the client is a refusal with a code of the catalogue alone, otherwise a defect', () => {
  const known = new ClientError({ code: 'NO_LEADER', error: 'x' }, 503);
  expect(toErrorData(known).error).toMatchObject({ code: 'NO_LEADER', args: {} });
  const foreign = new ClientError({ code: 'REDIRECTED', error: 'x' }, 302);
  expect(toErrorData(foreign)).toEqual({
    error: { code: 'INTERNAL', args: {} },
    stack: foreign.stack,
  });
});
