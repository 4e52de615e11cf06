// The catalogue of run-time errors: for each code the message, the hint and whether a retry may help. Errors
// cross threads as `{ code, args, ... }` data. `error-status.ts` has the HTTP status of each code.

import { errorStatuses } from './error/error-status.js';
import { fill } from './error/fill-template.js';
import { findShortage } from './os/shortage.js';
export { excerpt } from './text/excerpt.js';

export type ErrorArgs = Record<string, string | number | boolean | bigint | null>;

interface Entry {
  /** The message; each `{name}` is replaced by the argument of that name. */
  message: string;
  hint?: string;
  retryable?: true;
}

const table = {
  BAD_FRAMING: { message: 'The framing of the request is invalid: {what}.' },
  HOST_NOT_ALLOWED: {
    message: 'The Host header "{host}" is not allowed.',
    hint: 'Add it to `server.allowed_hosts`.',
  },
  ORIGIN_NOT_ALLOWED: {
    message: 'Requests from {origin} are not allowed.',
    hint: 'Add it to `cors.origins`.',
  },
  PROTECTED_MODE: {
    message: 'This server has no API keys, so it accepts requests from this machine only.',
    hint: 'Create a key, or start with --insecure-no-auth.',
  },
  FEATURE_DISABLED: { message: '{feature} is disabled on this server.' },
  NOT_FOUND: { message: "Couldn't find `{name}` of type {kind}" },
  TENANT_UNKNOWN: {
    message: 'There is no database named {tenant}.',
    hint: 'The databases of a server are listed under [tenants.databases].',
  },
  SHARD_MISSING: {
    message: 'Only {answered} of {shards} shards responded.',
    hint: 'To accept partial results, send `Trellis-Partial: allow`.',
    retryable: true,
  },
  TENANT_CLOSED: { message: 'The database {tenant} cannot be opened: {what}', retryable: true },
  METHOD_NOT_ALLOWED: { message: '{method} is not allowed on {path}.', hint: 'Use {allow}.' },
  BODY_TOO_LARGE: {
    message: 'The body is larger than {max} bytes.',
    hint: 'The limit is `limits.body_bytes`.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    message: 'Content-Type {type} is not accepted.',
    hint: 'Send the header `Content-Type: application/json`.',
  },
  UNSUPPORTED_ENCODING: {
    message: 'Content-Encoding {encoding} is not accepted.',
    hint: 'Send the body uncompressed.',
  },
  API_KEY_REQUIRED: {
    message: 'This server needs an API key.',
    hint: 'Send it in the header `x-api-key`.',
  },
  INVALID_API_KEY: { message: 'Invalid API key' },
  FORBIDDEN: { message: 'This API key may not {action}.' },
  RATE_LIMITED: { message: 'Too many {what}; wait {seconds} s.', retryable: true },
  SHARE_EXCEEDED: {
    message: 'This caller has reached its share of {count} {what}.',
    hint: 'Other callers are waiting. Finish some of your own first.',
    retryable: true,
  },
  BAD_JSON: { message: 'The body is not valid JSON at byte {offset}: {what}.' },
  BAD_UTF8: { message: 'The body is not valid UTF-8 at byte {offset}.' },
  BAD_STRING: { message: '{path} contains an unpaired UTF-16 surrogate.' },
  BODY_NOT_OBJECT: {
    message: 'The body must be a JSON object, got {kind}.',
    hint: 'Send `{}` for no parameters.',
  },
  JSON_TOO_DEEP: {
    message: 'The body nests deeper than {max} levels.',
    hint: 'The limit is `limits.json_depth`.',
  },
  JSON_TOO_MANY_MEMBERS: { message: '{path} has more than {max} members.' },
  DUPLICATE_MEMBER: { message: '`{member}` occurs twice.' },
  UNKNOWN_MEMBER: { message: '{owner} has no parameter `{member}`.' },
  PARAM_MISSING: { message: '{owner} needs `{param}` ({type}).' },
  PARAM_TYPE: { message: '`{param}` must be {type}, got {got}.' },
  PARAM_RANGE: { message: '`{param}` must be between {min} and {max}, got {got}.' },
  PARAM_VALUE: { message: '`{param}` must be {allowed}, got {got}.' },
  VALUE_TOO_LARGE: { message: '`{param}` is {size} bytes; {max} at most.' },
  INDEX_KEY_TOO_LONG: {
    message: '`{property}` is indexed and holds at most {max} bytes, got {size}.',
    hint: 'Drop the index or shorten the value.',
  },
  TEXT_TOO_LONG: { message: 'The search text has {size} {unit}; {max} at most.' },
  VECTOR_EMPTY: { message: '`{param}` is an empty vector.' },
  VECTOR_TOO_LONG: { message: '`{param}` has {got} numbers; {max} at most.' },
  VECTOR_NOT_FINITE: { message: '`{param}` is not finite at position {index}.' },
  VECTOR_DIMENSION: {
    message: '{type} stores vectors with {expected} dimensions, but this one has {got}.',
    hint: 'Use the embedding model that made the stored vectors.',
  },
  VECTOR_CAPACITY: {
    message: 'The vectors of {type} have reached their memory limit.',
    hint: 'The limit is `vectors.memory_bytes`.',
  },
  VECTORS_SKIPPED: {
    message: 'This node has no index for {type}.',
    hint: 'Send the search to another node: `cluster.skip_vectors` names the type on this one.',
    retryable: true,
  },
  NO_VALUE_FOUND: { message: 'No value found: {what}' },
  NO_PATH: { message: 'No path from {from} to {to}.' },
  EDGE_ENDPOINT_TYPE: { message: '{edge} goes from {from} to {to}, got {got}.' },
  EXPECTED_ONE: {
    message: '{place} needs exactly one element, got {count}.',
    hint: 'Take one with `::FIRST`.',
  },
  UNIQUE_VIOLATION: { message: 'Duplicate key on unique index: {type}.{property}' },
  ARITHMETIC: { message: '{operation} failed: {what}.' },
  CONNECTION_NOT_FOUND: {
    message: 'Connection not found: {id}',
    hint: 'Open a session with `mcp/init`.',
  },
  SESSION_ELSEWHERE: {
    message: 'This session is on node {node}.',
    hint: 'Send the call to that node, or list it in `cluster.members` of this node, which then forwards calls.',
    retryable: true,
  },
  TOO_MANY_SESSIONS: {
    message: 'The limit of {count} open sessions is reached.',
    hint: 'The limit is `limits.sessions`.',
    retryable: true,
  },
  IDEMPOTENCY_KEY_INVALID: { message: '`Idempotency-Key` {what}.' },
  IDEMPOTENCY_MISMATCH: {
    message: 'This idempotency key was already used for a different request.',
    hint: 'Use a new key for each write; reuse it only to retry the same request.',
  },
  SESSION_BUSY: { message: '{count} calls are already waiting on this session.', retryable: true },
  UNKNOWN_TYPE: { message: 'The schema has no {kind} type `{name}`.' },
  UNKNOWN_PROPERTY: { message: 'No type has a property `{name}`.' },
  UNKNOWN_OPERATOR: {
    message: '`{operator}` is not a filter operator.',
    hint: 'The operators are ==, !=, >, >=, <, <=.',
  },
  UNKNOWN_TOOL: { message: '`{tool}` cannot be used here.' },
  FILTER_TOO_DEEP: { message: 'Filters nest deeper than {max}.' },
  FILTER_TOO_LARGE: { message: 'The filter has {count} {what}; {max} at most.' },
  RESULT_TOO_LARGE: {
    message: 'The result exceeds {max} {unit}.',
    hint: 'Narrow it, or page with `range`.',
  },
  QUERY_MEMORY: { message: 'The query needs more than {max} bytes of memory.' },
  QUERY_WORK: { message: 'The query would read more than {max} elements.' },
  TXN_TOO_LARGE: {
    message: 'The write makes more than {max} {unit} in one transaction.',
    hint: 'Split the write into several requests.',
  },
  DROP_TOO_LARGE: {
    message: 'The query would delete more than {max} edges, including edges of deleted nodes.',
    hint:
      'Delete the edges in batches first, `DROP n::OutE<Type>::RANGE(0, 10000)`, until none is left, ' +
      'or raise `limits.drop_edges`.',
  },
  QUERY_TIMEOUT: {
    message: 'The query was stopped after {ms} ms.',
    hint: 'Add an index, or raise `limits.query_time`.',
    retryable: true,
  },
  OVERLOADED: { message: '{queue} is full.', retryable: true },
  RESOURCE_EXHAUSTED: {
    message: 'The operating system refused a resource that this call needs: {what}.',
    retryable: true,
  },
  NOT_READY: { message: 'The server is starting: {phase}, {progress} %.', retryable: true },
  SHUTTING_DOWN: { message: 'The server is stopping.', retryable: true },
  DATABASE_CLOSED: { message: 'The database is closed.', hint: 'Open it again with `open`.' },
  SCHEMA_CHANGED: {
    message: 'The schema changed while the call ran, so the call had no effect.',
    retryable: true,
  },
  READ_ONLY: { message: 'Writes are disabled: {reason}.', retryable: true },
  STORAGE_LOST: {
    message: 'The data files are no longer usable: {what}.',
    hint: 'Restart the server. If the data file is missing, restore a backup first.',
  },
  INSUFFICIENT_STORAGE: {
    message: 'Not enough disk space: {free} bytes free, {needed} required.',
    hint: 'Free disk space.',
    retryable: true,
  },
  NO_LEADER: { message: 'The cluster has no leader.', hint: 'Try again shortly.', retryable: true },
  NOT_LEADER: {
    message: 'This node does not accept writes; the leader is {node} at {address}.',
    retryable: true,
  },
  NODE_LEADS: {
    message: 'Node {node} is the leader.',
    hint: 'Make another node the leader first: `trellis cluster step-down`.',
  },
  NODE_LEFT: {
    message: 'Node {node} has left the cluster.',
    hint: 'To rejoin, empty its data directory and start it. To run it alone, remove `cluster.log` from its configuration.',
  },
  NODE_NAME_TAKEN: {
    message: 'Another node of the cluster, at {address}, is already named {node}.',
    hint: 'Give every node a different `cluster.node`, then start this node again.',
  },
  NODE_DIFFERS: {
    message: "The configuration of this node differs from the leader's: {what}.",
    hint: 'These settings must be equal on all nodes. Correct them, then start this node again.',
  },
  OUTCOME_UNKNOWN: {
    message: 'No confirmation arrived within {ms} ms, so the write may or may not have succeeded.',
    hint: 'Read the data to check, or retry with the same `Idempotency-Key`.',
  },
  REPLICA_BEHIND: {
    message: 'This node is at position {position}; the request needs {wanted}.',
    retryable: true,
  },
  PROGRAM_CHANGED: {
    message:
      'The program changed during this call: the participating databases do not run the same version.',
    retryable: true,
  },
  SCHEMA_AHEAD: {
    message: 'The cluster runs sources of a newer version: {what}.',
    hint: 'Upgrade this node.',
  },
  DIVERGED: {
    message: "The data of this node differ from the leader's: {tables}.",
    hint: 'Keep a copy of the data directory for diagnosis, then set this node up again from the leader.',
  },
  LOG_LOST: {
    message: 'The log of the cluster cannot be followed: {what}.',
    hint: 'Compare the nodes with `trellis cluster status`, then see `trellis cluster recreate-log`.',
  },
  LOG_UNTRUSTED: {
    message: 'The log of the cluster has an entry that cannot be authenticated: {what}.',
    hint: 'This entry and all later ones were not applied. Check who else can write to the log, and compare `cluster.secret_file` on all nodes.',
  },
  LOG_TRUNCATED: {
    message: 'The log of the cluster begins at {first}; this node needs {needed}.',
    hint: 'This node copies the data from the leader; `trellis cluster status` shows the progress.',
  },
  LOG_UNAVAILABLE: {
    message: 'The log of the cluster cannot be reached: {what}.',
    retryable: true,
  },
  LOG_FULL: {
    message: 'The log of the cluster is full: {what}.',
    hint: 'The limit is twice `cluster.log_retention_bytes`.',
    retryable: true,
  },
  EMBEDDING_NOT_CONFIGURED: {
    message: 'Error while embedding text: {what}.',
    hint: 'Set `embedding.model` and the provider credential.',
  },
  EMBEDDING_FAILED: {
    message: 'Error while embedding text: {provider} answered {status}: {detail}',
  },
  EMBEDDING_REFUSED: {
    message: 'The embedding provider refused {which}: {provider} answered {status}: {detail}',
  },
  EMBEDDING_MODEL_CHANGED: {
    message: 'The vectors of {type} are of {stored}, but {configured} is configured.',
    hint: 'Run `trellis reembed {type} --from PROPERTY`, or with `--keep` if the two models agree.',
  },
  EMBEDDING_UNAVAILABLE: {
    message: 'Error while embedding text: {provider} is unavailable: {detail}',
    retryable: true,
  },
  EMBEDDING_TIMEOUT: {
    message: 'Error while embedding text: {provider} took longer than {ms} ms.',
    hint: 'The limit is `embedding.timeout`.',
    retryable: true,
  },
  IMPORT_KNOWN: { message: '{file}: {what}.' },
  ROW_REFUSED: { message: 'Row {line} was rejected: {reason}. {left}' },
  DATA_CORRUPT: {
    message: 'Stored data is damaged: {what}.',
    hint: 'Run `trellis verify --deep`. `--repair-derived` rebuilds the indexes; restore anything else from a backup.',
  },
  INTERNAL: { message: 'Internal error; see the log for request {request_id}.' },
  QUERY_INVALID: { message: 'Line {line}, column {column}: {fault} {what}' },
  // Errors of start-up: the process ends with an exit code, and no request receives them.
  CONFIG_INVALID: { message: '{what}' },
  SOURCE_INVALID: { message: '{what}' },
  SCHEMA_INCOMPATIBLE: {
    message: '{what}',
    hint: 'Write a MIGRATION, or restore the declaration.',
  },
  DATA_DIR_BAD: { message: 'The data directory cannot be used: {what}.' },
  FILE_UNUSABLE: { message: '{path}: {reason}.' },
  DATA_LOCKED: { message: 'The data directory is in use: {what}.' },
  SERVER_UNREACHABLE: {
    message: 'No server can be reached: {what}.',
    hint: 'Start one with `trellis serve`.',
  },
  FORMAT_TOO_NEW: { message: 'The data has format {found}; this version reads up to {known}.' },
  LOG_UNSAFE: {
    message: 'The log may lose entries that it has acknowledged: {what}.',
    hint: 'Run its servers with `sync_interval: always`, or set `cluster.allow_unsynced_log`.',
  },
  PORT_IN_USE: { message: '{host}:{port} is already in use.' },
  LISTEN_FAILED: { message: 'Cannot listen on {place}: {cause} ({errno}).' },
} satisfies Record<string, Entry>;

/**
 * The name of a kind of error, stable over versions.
 *
 * @example
 * const retryLater: ErrorCode[] = ['OVERLOADED', 'QUERY_TIMEOUT'];
 */
export type ErrorCode = keyof typeof table;

/**
 * All codes of the catalogue, in its order.
 *
 * @example
 * console.log(errorCodes.includes('UNIQUE_VIOLATION')); // true
 */
export const errorCodes = Object.keys(table) as ErrorCode[];

/**
 * Data of an error, `error.data`: threads exchange it, and replies are printed from it.
 *
 * @example
 * const data: ErrorData = { code: 'NOT_FOUND', args: { name: 'people', kind: 'query' } };
 * throw new TrellisError(data);
 */
export interface ErrorData {
  code: ErrorCode;
  args: ErrorArgs;
  /** JSON Pointer to the invalid value in the request body. */
  path?: string;
  /** Replaces the hint of the catalogue. */
  hint?: string;
  /** All errors of one body, the main one first; at most 8. */
  errors?: ErrorData[];
}

export function errorMessage(data: ErrorData): string {
  const isWithoutRequest = data.code === 'INTERNAL' && data.args.request_id === undefined;
  return fill(
    isWithoutRequest ? 'Internal error; see the log.' : table[data.code].message,
    data.args,
  );
}

export function errorHint(data: ErrorData): string | undefined {
  const hint = data.hint ?? (table[data.code] as Entry).hint;
  return hint === undefined ? undefined : fill(hint, data.args);
}

export function isRetryable(code: ErrorCode): boolean {
  return (table[code] as Entry).retryable === true;
}

export type ErrorStatus = (typeof errorStatuses)[keyof typeof errorStatuses] | 400;
const statuses: Partial<Record<ErrorCode, ErrorStatus>> = errorStatuses;

/** The HTTP status of an error, in the server and in a web framework. */
export function errorStatus(code: ErrorCode): ErrorStatus {
  return statuses[code] ?? 400;
}

/** Marks every error class of TrellisDB: that of the engine, that of the client, and copies of both. */
const brand: unique symbol = Symbol.for('trellisdb.TrellisError');

/**
 * The error that every failed call throws. `code` says what happened, `hint` what to do, `status` is the HTTP
 * status, which web frameworks send. `instanceof` of this class also accepts errors of `trellisdb/client`.
 *
 * @example
 * try {
 *   await db.call('add', { name: 'Ada' });
 * } catch (error) {
 *   if (error instanceof TrellisError && error.code === 'UNIQUE_VIOLATION') console.log(error.hint);
 *   else throw error;
 * }
 */
export class TrellisError extends Error {
  override readonly name = 'TrellisError';
  /**
   * Creates the error without a stack trace unless its code is INTERNAL. An expected error describes the
   * call, and a trace costs more than all the rest. `throwAtCaller` makes the trace where an error leaves
   * the engine.
   */
  constructor(readonly data: ErrorData) {
    const depth = Error.stackTraceLimit;
    if (data.code !== 'INTERNAL') Error.stackTraceLimit = 0;
    super(errorMessage(data));
    Error.stackTraceLimit = depth;
  }
  /**
   * Recognizes errors of all copies and of the client's class. A subclass recognizes only its own instances.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.hasOwn(this.prototype, brand)
      ? brand in Object(value)
      : super[Symbol.hasInstance](value);
  }
  get [brand](): true {
    return true;
  }
  get code(): ErrorCode {
    return this.data.code;
  }
  get args(): ErrorArgs {
    return this.data.args;
  }
  /** What to do about it; undefined where the catalogue has no advice. */
  get hint(): string | undefined {
    return errorHint(this.data);
  }
  /** JSON Pointer to the wrong value in the arguments. */
  get path(): string | undefined {
    return this.data.path;
  }
  /** All errors of one call, if it has several; at most 8. */
  get errors(): readonly ErrorData[] | undefined {
    return this.data.errors;
  }
  get status(): ErrorStatus {
    return errorStatus(this.data.code);
  }
  get retryable(): boolean {
    return isRetryable(this.data.code);
  }
}

/** Throws a TrellisError with `code`. `extra` may add a path, a hint and further errors. */
export function fail(
  code: ErrorCode,
  args: ErrorArgs = {},
  extra: Omit<ErrorData, 'code' | 'args'> = {},
): never {
  throw new TrellisError({ code, args, ...extra });
}

/**
 * Returns true for a TrellisError with a code of the catalogue, also from another copy of this module, as
 * a user's own log driver has. `instanceof` also knows client errors, whose codes can be unknown here.
 */
const isInCatalogue = (error: unknown): error is TrellisError =>
  error instanceof Error &&
  error.name === 'TrellisError' &&
  Object.hasOwn(table, String((error as TrellisError).data?.code));

/** Returns RESOURCE_EXHAUSTED if the operating system refused a resource, otherwise undefined. */
export function toShortageData(error: unknown): ErrorData | undefined {
  const shortage = findShortage(error);
  if (shortage === undefined) return undefined;
  const { what, hint } = shortage;
  return { code: 'RESOURCE_EXHAUSTED', args: { what }, hint };
}

/** Throws RESOURCE_EXHAUSTED if the operating system refused a resource; otherwise returns. */
export function throwShortage(error: unknown): void {
  const shortage = toShortageData(error);
  if (shortage !== undefined) throw new TrellisError(shortage);
}

/**
 * Converts any thrown value to error data: the data of a TrellisError, RESOURCE_EXHAUSTED if the
 * operating system refused a resource, otherwise INTERNAL. A defect has the stack for
 * the log, also if another thread sent it.
 */
export function toErrorData(error: unknown): { error: ErrorData; stack?: string } {
  if (isInCatalogue(error)) {
    const { data } = error;
    // V8 formats the stack at the first read.
    const stack = data.code === 'INTERNAL' ? error.stack : undefined;
    return stack ? { error: data, stack } : { error: data };
  }
  const shortage = toShortageData(error);
  if (shortage !== undefined) return { error: shortage };
  const stack = error instanceof Error ? error.stack : String(error);
  return { error: { code: 'INTERNAL', args: {} }, stack };
}

/** Restores an error from the data that another thread sent. */
export function restoreError(error: ErrorData, stack: string | undefined): TrellisError {
  const restored = new TrellisError(error);
  if (stack !== undefined) restored.stack = stack;
  return restored;
}
