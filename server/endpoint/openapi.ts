// `GET /openapi.json`: the document of the program in force, made once for all who see every query.
// Invariant: its tag is that of its bytes, so that a key with fewer queries has another one.
import { createHash } from 'node:crypto';
import type { Database, Program } from '../../engine/index.js';
import { type Caller, scopeNames } from '../auth/keys.js';
import { isScoped } from '../auth/rights.js';
import type { Exchange } from '../http/exchange.js';
import { type HeaderList, jsonHeaders } from '../http/header-list.js';
import { documentOf } from '../openapi/document.js';
import { notModifiedStatus, okStatus } from '../http/status-line.js';
import type { Reply } from '../request/routes.js';

export interface OpenApiReplyOptions {
  version: string;
  /** Of the project. */
  title: string;
  /** Whether callers need a key. */
  hasKeys: () => boolean;
  /** Fails NOT_READY before the database is open. */
  database: () => Database;
}

interface Made {
  program: Program;
  keys: boolean;
  body: Uint8Array;
  tag: string;
}

export function openApiReplies(
  options: OpenApiReplyOptions,
): (exchange: Exchange, caller: Caller | undefined) => Reply {
  /** For callers who see every query: administrators, and others. */
  const whole = new Map<boolean, Made>();
  return (exchange, caller) => {
    const { program } = options.database();
    const keys = options.hasKeys();
    const admin = caller === undefined || caller.role === 'admin';
    const kept = isScoped(caller) ? undefined : whole.get(admin);
    const isFresh = kept?.program === program && kept.keys === keys;
    const made = isFresh ? kept : make(program, keys, admin, caller?.queries, options);
    if (!isScoped(caller)) whole.set(admin, made);
    return replyOf(made, exchange.ifNoneMatch);
  };
}

/** A key limited to some queries sees those. */
function make(
  program: Program,
  keys: boolean,
  isAdmin: boolean,
  scope: Caller['queries'],
  { version, title }: OpenApiReplyOptions,
): Made {
  const document = documentOf(program, {
    title,
    version,
    keys,
    admin: isAdmin && scope === undefined,
    ...(scope && { sees: (name) => scopeNames(scope, name) }),
  });
  const body = Buffer.from(JSON.stringify(document));
  const digest = createHash('sha256').update(body).digest('base64url');
  return { program, keys, body, tag: `"${digest.slice(0, 22)}"` };
}

function replyOf({ body, tag }: Made, known: string): Reply {
  const headers: HeaderList = [
    ...jsonHeaders.filter(([name]) => name !== 'Cache-Control'),
    ['Cache-Control', 'private, no-cache'],
    ['ETag', tag],
  ];
  const isKnown = known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
  return isKnown
    ? { status: notModifiedStatus, headers, body: '' }
    : { status: okStatus, headers, body };
}
