// The one catalogue of run-time errors: every code, its sentence, its hint and whether a retry may
// help. Errors cross threads as { code, args, ... } data; http-error.ts alone knows the status of
// each code.

import { shortageOf } from './os/shortage.js';
import { visible } from './text/visible.js';

export type ErrorArgs = Record<string, string | number | boolean | bigint | null>;

interface Entry {
  /** `{name}` is replaced by the argument of that name. */
  message: string;
  hint?: string;
  retryable?: true;
}

const table = {
  BAD_FRAMING: { message: 'The request framing is not acceptable: {what}.' },
  HOST_NOT_ALLOWED: {
    message: 'Host {host} is not served here.',
    hint: 'Add it to `server.allowed_hosts`.',
  },
  ORIGIN_NOT_ALLOWED: {
    message: 'Requests from {origin} are not allowed.',
    hint: 'Add it to `cors.origins`.',
  },
  PROTECTED_MODE: {
    message: 'This server has no API keys and answers only this machine.',
    hint: 'Create a key, or start with --insecure-no-auth.',
  },
  FEATURE_DISABLED: { message: '{feature} is switched off on this server.' },
  NOT_FOUND: { message: "Couldn't find `{name}` of type {kind}" },
  TENANT_UNKNOWN: {
    message: 'There is no database {tenant} here.',
    hint: 'Those of a server are named under [cluster.databases].',
  },
  SHARD_MISSING: {
    message: '{answered} of {shards} shards have answered.',
    hint: '`Trellis-Partial: allow` takes what there is.',
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
    message: 'This caller has {count} {what}, its share.',
    hint: 'Others are waiting: end some of them first.',
    retryable: true,
  },
  BAD_JSON: { message: 'The body is not valid JSON at byte {offset}: {what}.' },
  BAD_UTF8: { message: 'The body is not valid UTF-8 at byte {offset}.' },
  BAD_STRING: { message: '{path} holds a lone surrogate.' },
  BODY_NOT_OBJECT: {
    message: 'The body is {kind}; a JSON object is needed.',
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
    message: '`{property}` is indexed and takes {max} bytes, got {size}.',
    hint: 'Drop the index or shorten the value.',
  },
  TEXT_TOO_LONG: { message: 'The search text has {size} {unit}; {max} at most.' },
  VECTOR_EMPTY: { message: '`{param}` is an empty vector.' },
  VECTOR_TOO_LONG: { message: '`{param}` has {got} numbers; {max} at most.' },
  VECTOR_NOT_FINITE: { message: '`{param}` is not finite at position {index}.' },
  VECTOR_DIMENSION: {
    message: '{type} holds vectors of {expected} numbers, got {got}.',
    hint: 'Embed with the model this type was filled with.',
  },
  VECTOR_CAPACITY: {
    message: '{type} has no room for more vectors in memory.',
    hint: 'The limit is `vectors.memory_bytes`.',
  },
  VECTORS_SKIPPED: {
    message: 'This node searches no vectors of {type}.',
    hint: 'Ask another node; here `cluster.skip_vectors` names the type.',
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
    message: 'This session lives on the node {node}.',
    hint: 'Ask that node, or name it in `cluster.members` here: calls are then passed on.',
    retryable: true,
  },
  TOO_MANY_SESSIONS: {
    message: '{count} sessions are open, the limit.',
    hint: 'The limit is `limits.sessions`.',
    retryable: true,
  },
  IDEMPOTENCY_KEY_INVALID: { message: '`Idempotency-Key` {what}.' },
  IDEMPOTENCY_MISMATCH: {
    message: 'This idempotency key was used with another request.',
    hint: 'Every write has a key of its own; only its repeat has the same.',
  },
  SESSION_BUSY: { message: '{count} calls wait on this session.', retryable: true },
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
  QUERY_MEMORY: { message: 'The query needs more than {max} bytes.' },
  QUERY_WORK: { message: 'The query visits more than {max} elements.' },
  TXN_TOO_LARGE: {
    message: 'The write makes more than {max} {unit} in one transaction.',
    hint: 'Split the load.',
  },
  DROP_TOO_LARGE: {
    message: 'The write drops more than {max} edges, those of the nodes that go included.',
    hint:
      'Drop them in pieces first, `DROP n::OutE<Type>::RANGE(0, 10000)`, until none is left, ' +
      'or raise `limits.drop_edges`.',
  },
  QUERY_TIMEOUT: {
    message: 'Stopped after {ms} ms.',
    hint: 'Add an index, or raise `limits.query_time`.',
    retryable: true,
  },
  OVERLOADED: { message: '{queue} is full.', retryable: true },
  RESOURCE_EXHAUSTED: {
    message: 'The operating system refuses what this call needs: {what}.',
    retryable: true,
  },
  NOT_READY: { message: 'The server is starting: {phase}, {progress} %.', retryable: true },
  SHUTTING_DOWN: { message: 'The server is stopping.', retryable: true },
  SCHEMA_CHANGED: {
    message: 'The schema was changing while the call ran; nothing of it was done.',
    retryable: true,
  },
  READ_ONLY: { message: 'Writes are switched off: {reason}.', retryable: true },
  STORAGE_LOST: {
    message: 'The data cannot be used any more: {what}.',
    hint: 'Restart; where the data file is gone, from a backup.',
  },
  INSUFFICIENT_STORAGE: {
    message: '{free} bytes are free, {needed} needed.',
    hint: 'Free disk space.',
    retryable: true,
  },
  NO_LEADER: {
    message: 'No node of the cluster takes writes just now.',
    retryable: true,
  },
  NOT_LEADER: {
    message: 'This node takes no writes; {node} at {address} does.',
    retryable: true,
  },
  NODE_LEADS: {
    message: 'The node {node} leads.',
    hint: 'Hand over first: `trellis cluster step-down`.',
  },
  NODE_LEFT: {
    message: 'The node {node} has left the cluster.',
    hint: 'To join again, empty its data directory and start it. Without `cluster.log` its data go their own way.',
  },
  NODE_NAME_TAKEN: {
    message: 'Another node of the cluster, at {address}, has the name {node}.',
    hint: 'Give every node a `cluster.node` of its own, and start this one again.',
  },
  NODE_DIFFERS: {
    message: 'This node is configured otherwise than the leader of its cluster: {what}.',
    hint: 'All nodes have the same there: correct it, and start this node again.',
  },
  OUTCOME_UNKNOWN: {
    message: 'What became of the write is not known after {ms} ms: it may be done, or may not.',
    hint: 'Read whether it is; a repeat under the same `Idempotency-Key` is done once.',
  },
  REPLICA_BEHIND: {
    message: 'This node is at position {position}, {wanted} is wanted.',
    retryable: true,
  },
  PROGRAM_CHANGED: {
    message: 'The program has changed: not all that have a part in this call have the same one.',
    retryable: true,
  },
  SCHEMA_AHEAD: {
    message: 'The sources of the cluster are of a newer version: {what}.',
    hint: 'Upgrade this node.',
  },
  DIVERGED: {
    message: 'This node does not hold what the leader holds: {tables} differ.',
    hint: 'Keep the directory for whoever looks for the cause, and begin this node anew.',
  },
  LOG_LOST: {
    message: 'The log of the cluster cannot be followed: {what}.',
    hint: 'Compare the nodes with `trellis cluster status`, then see `trellis cluster rebase`.',
  },
  LOG_UNTRUSTED: {
    message: 'The log of the cluster does not prove who wrote it: {what}.',
    hint: 'Nothing from there on was applied. See who else can write to the log, and compare `cluster.secret_file` of all nodes.',
  },
  LOG_TRUNCATED: {
    message: 'The log of the cluster begins at {first}; this node needs {needed}.',
    hint: 'The node fetches a copy of the data from the leader; `trellis cluster status` shows how far it is.',
  },
  LOG_UNAVAILABLE: {
    message: 'The log of the cluster cannot be reached: {what}.',
    retryable: true,
  },
  LOG_FULL: {
    message: 'The log of the cluster is full: {what}.',
    hint: 'The limit is twice `cluster.keep_bytes`.',
    retryable: true,
  },
  EMBEDDING_NOT_CONFIGURED: {
    message: 'Error while embedding text: {what}.',
    hint: 'Set `embedding.model` and the provider credential.',
  },
  EMBEDDING_FAILED: {
    message: 'Error while embedding text: {provider} answered {status}: {detail}',
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
  ROW_REFUSED: { message: 'Row {line} is refused: {reason}. {left}' },
  DATA_CORRUPT: {
    message: 'Stored data is damaged: {what}.',
    hint: 'Run `trellis verify --deep`; `--repair-derived` mends indexes, a backup the rest.',
  },
  INTERNAL: { message: 'Internal error; see the log for request {request_id}.' },
  QUERY_INVALID: { message: 'Line {line}, column {column}: {fault} {what}' },
  // Start-up only: these end the process with an exit code instead of answering a request.
  CONFIG_INVALID: { message: '{what}' },
  SOURCE_INVALID: { message: '{what}' },
  SCHEMA_INCOMPATIBLE: {
    message: '{what}',
    hint: 'Write a MIGRATION, or restore the declaration.',
  },
  DATA_DIR_BAD: { message: 'The data directory cannot be used: {what}.' },
  FILE_UNUSABLE: { message: '{path}: {reason}.' },
  DATA_LOCKED: { message: 'The data directory is in use: {what}.' },
  FORMAT_TOO_NEW: { message: 'The data has format {found}; this version reads up to {known}.' },
  LOG_UNSAFE: {
    message: 'The log may lose what it has acknowledged: {what}.',
    hint: 'Run its servers with `sync_interval: always`, or set `cluster.allow_lazy_log`.',
  },
  PORT_IN_USE: { message: '{host}:{port} is in use.' },
  LISTEN_FAILED: { message: 'Nobody can listen at {place}: {cause} ({errno}).' },
} satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof table;

export const errorCodes = Object.keys(table) as ErrorCode[];

/** What crosses threads and what a reply is made of. */
export interface ErrorData {
  code: ErrorCode;
  args: ErrorArgs;
  /** JSON Pointer into the request body. */
  path?: string;
  /** Replaces the catalogue's hint. */
  hint?: string;
  /** All faults of one body, the main one first; at most 8. */
  errors?: ErrorData[];
}

const textMax = 64;

/**
 * Cuts to 64 characters and escapes those that nobody sees, so that no input can bloat or forge a line.
 */
export function excerpt(text: string): string {
  let result = '';
  let count = 0;
  for (const character of text) {
    if (count++ === textMax) return `${result}…`;
    result += visible(character);
  }
  return result;
}

function fill(template: string, args: ErrorArgs): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(args[name] ?? `{${name}}`));
}

/** Of a defect that no request of HTTP has met. */
const withoutRequest = 'Internal error; see the log.';

export function errorMessage(data: ErrorData): string {
  if (data.code === 'INTERNAL' && data.args.request_id === undefined) return withoutRequest;
  return fill(table[data.code].message, data.args);
}

export function errorHint(data: ErrorData): string | undefined {
  const hint = data.hint ?? (table[data.code] as Entry).hint;
  return hint === undefined ? undefined : fill(hint, data.args);
}

export function isRetryable(code: ErrorCode): boolean {
  return (table[code] as Entry).retryable === true;
}

/** The only error class that input can cause. */
export class TrellisError extends Error {
  override readonly name = 'TrellisError';
  /**
   * A refusal is an answer, not a defect: whoever reads it wants to know what was wrong with the
   * call, not where that was found, and a trace costs more than all else of it.
   */
  constructor(readonly data: ErrorData) {
    const depth = Error.stackTraceLimit;
    if (data.code !== 'INTERNAL') Error.stackTraceLimit = 0;
    super(errorMessage(data));
    Error.stackTraceLimit = depth;
  }
  get code(): ErrorCode {
    return this.data.code;
  }
}

/** Throws the catalogued error `code`; `extra` may add path, hint and further faults. */
export function fail(
  code: ErrorCode,
  args: ErrorArgs = {},
  extra: Omit<ErrorData, 'code' | 'args'> = {},
): never {
  throw new TrellisError({ code, args, ...extra });
}

/** Of another copy of this module: a log's driver of somebody's own is no part of a bundled server. */
const isOfAnotherCopy = (error: unknown): error is TrellisError =>
  error instanceof Error &&
  error.name === 'TrellisError' &&
  Object.hasOwn(table, String((error as TrellisError).data?.code));

/** RESOURCE_EXHAUSTED, where the system refused something for want of it. */
export function shortageDataOf(error: unknown): ErrorData | undefined {
  const shortage = shortageOf(error);
  if (shortage === undefined) return undefined;
  const { what, hint } = shortage;
  return { code: 'RESOURCE_EXHAUSTED', args: { what }, hint };
}

/** Throws RESOURCE_EXHAUSTED where an error says no more than that: nobody else is to blame then. */
export function throwShortage(error: unknown): void {
  const shortage = shortageDataOf(error);
  if (shortage !== undefined) throw new TrellisError(shortage);
}

/**
 * Any thrown value as error data: a TrellisError's own, RESOURCE_EXHAUSTED for what the system lacks.
 * All else is a defect: INTERNAL, with the stack for the log.
 */
export function errorDataOf(error: unknown): { error: ErrorData; stack?: string } {
  if (error instanceof TrellisError || isOfAnotherCopy(error)) return { error: error.data };
  const shortage = shortageDataOf(error);
  if (shortage !== undefined) return { error: shortage };
  const stack = error instanceof Error ? error.stack : String(error);
  return { error: { code: 'INTERNAL', args: {} }, stack };
}

/** The error again, in a thread that was sent its data. */
export function errorOf(error: ErrorData, stack: string | undefined): TrellisError {
  const restored = new TrellisError(error);
  if (stack !== undefined) restored.stack = stack;
  return restored;
}
