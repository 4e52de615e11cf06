// `GET /openapi.json`: the document of the program in force, made once for all who see the same queries: making
// it takes a twentieth of a millisecond for each of them, in which nobody else is served.
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

/** Bytes of documents that are kept; what they cost is made again. */
const keptBytes = 32 * 1024 * 1024;

interface Made {
  body: Uint8Array;
  tag: string;
}

export function openApiReplies(
  options: OpenApiReplyOptions,
): (exchange: Exchange, caller: Caller | undefined) => Reply {
  /** By what is told of: administration, and which queries. */
  const kept = new Map<string, Made>();
  let bytes = 0;
  let of: Program | undefined;
  return (exchange, caller) => {
    const { program } = options.database();
    if (of !== program) {
      kept.clear();
      [of, bytes] = [program, 0];
    }
    const keys = options.hasKeys();
    const admin = caller === undefined || caller.role === 'admin';
    const told = JSON.stringify([keys, admin && !isScoped(caller), caller?.queries]);
    let made = kept.get(told);
    if (made === undefined) {
      made = make(program, keys, admin, caller?.queries, options);
      if (bytes + made.body.length > keptBytes) {
        kept.clear();
        bytes = 0;
      }
      kept.set(told, made);
      bytes += made.body.length;
    }
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
  return { body, tag: `"${digest.slice(0, 22)}"` };
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
