// Handles `GET /openapi.json`: the document of the current program, made one time for all callers that see
// the same queries. The document of many queries is made on another thread, while this one serves.
// Invariants: the ETag is derived from the bytes, so that a key with fewer queries has another one. A caller
// that asks while the document is being made waits for the same one.
import type { Database, OpenApiText, Program } from '../../engine/internal.js';
import { type Caller, scopeNames } from '../auth/keys.js';
import { isScoped } from '../auth/permissions.js';
import type { Exchange } from '../http/exchange.js';
import { type HeaderList, jsonHeaders, notModifiedStatus, okStatus } from '../http/header-list.js';
import { type DocumentOptions, documentText } from '../openapi/document.js';
import type { Reply } from '../pipeline/router.js';

export interface OpenApiReplyOptions {
  version: string;
  /** Title of the project. */
  title: string;
  /** Whether callers need a key. */
  hasKeys: () => boolean;
  /** Fails NOT_READY before the database is open. */
  database: () => Database;
}

/** Maximum bytes of cached documents. Evicted documents are made again. */
const cachedBytes = 32 * 1024 * 1024;

interface Made {
  body: Uint8Array;
  tag: string;
}

export function openApiReplies(
  options: OpenApiReplyOptions,
): (exchange: Exchange, caller: Caller | undefined) => Reply | Promise<Reply> {
  /** Documents by their contents: keys, administration, and which queries. */
  const cached = new Map<string, Made | Promise<Made>>();
  let bytes = 0;
  let of: Program | undefined;

  function keep(program: Program, cacheKey: string, made: Made): Made {
    // The program was replaced meanwhile. Only the waiting callers get this document.
    if (of !== program) return made;
    if (bytes + made.body.length > cachedBytes) {
      cached.clear();
      bytes = 0;
    }
    cached.set(cacheKey, made);
    bytes += made.body.length;
    return made;
  }

  function makeOf(
    program: Program,
    cacheKey: string,
    settings: DocumentOptions,
  ): Made | Promise<Made> {
    const made = make(program, settings);
    if (!(made instanceof Promise)) return keep(program, cacheKey, made);
    const making = made.then(
      (document) => keep(program, cacheKey, document),
      (error: unknown) => {
        if (cached.get(cacheKey) === making) cached.delete(cacheKey);
        throw error;
      },
    );
    cached.set(cacheKey, making);
    return making;
  }

  return (exchange, caller) => {
    const { program } = options.database();
    if (of !== program) {
      cached.clear();
      [of, bytes] = [program, 0];
    }
    const { title, version } = options;
    const scope = caller?.queries;
    const keys = options.hasKeys();
    const admin = (caller === undefined || caller.role === 'admin') && !isScoped(caller);
    const cacheKey = JSON.stringify([keys, admin, scope]);
    // A key limited to some queries sees only those.
    const sees = scope && ((name: string) => scopeNames(scope, name));
    const settings = { title, version, keys, admin, ...(sees && { sees }) };
    const made = cached.get(cacheKey) ?? makeOf(program, cacheKey, settings);
    const { ifNoneMatch } = exchange;
    return made instanceof Promise
      ? made.then((document) => replyOf(document, ifNoneMatch))
      : replyOf(made, ifNoneMatch);
  };
}

function make(program: Program, settings: DocumentOptions): Made | Promise<Made> {
  const madeOf = ({ text, digest }: OpenApiText): Made => {
    return {
      body: Buffer.from(text.buffer, text.byteOffset, text.length),
      tag: `"${digest.slice(0, 22)}"`,
    };
  };
  const document = documentText(program, settings);
  return document instanceof Promise ? document.then(madeOf) : madeOf(document);
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
