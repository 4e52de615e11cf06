// Prints JSON-RPC 2.0 responses: results, errors, and the response to a notification. Concatenates text, so
// that no number passes through JSON.parse.
import { jsonHeaders, okStatus } from '../../http/header-list.js';
import type { Reply } from '../../pipeline/router.js';

export const rpcCodes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  noResource: -32002,
  header: -32020,
  version: -32022,
} as const;

const badStatus = '400 Bad Request';
const acceptedStatus = '202 Accepted';

/** A request that JSON-RPC itself refuses. Errors of a tool's arguments are results of the tool. */
export class RpcError extends Error {
  /** JSON text of the request's id. */
  id = 'null';

  constructor(
    readonly code: number,
    message: string,
    readonly status = badStatus,
    readonly details?: unknown,
  ) {
    super(message);
  }
}

export const notedReply: Reply = { status: acceptedStatus, headers: jsonHeaders, body: '' };

/**
 * Maximum number of characters that the transport sends as one string, which saves a copy. Longer
 * responses are sent in pieces.
 */
const textMax = 16_384;

/** `members`: members of the result, as JSON text without its braces. */
export function resultReply(id: string, members: string): Uint8Array | Reply {
  const body = `{"jsonrpc":"2.0","id":${id},"result":{${members}}}`;
  if (body.length > textMax) return Buffer.from(body);
  return { status: okStatus, headers: jsonHeaders, body };
}

export function errorReply(rpcError: RpcError, id: string, isModern: boolean): Reply {
  const { code, message, details } = rpcError;
  const error = { code, message, ...(details !== undefined && { data: details }) };
  // Older clients treat any other status as an error of the transport, once the protocol style is known.
  const isLate = code === rpcCodes.method || code === rpcCodes.params;
  const status = !isModern && (isLate || code === rpcCodes.noResource) ? okStatus : rpcError.status;
  const body = `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
  return { status, headers: jsonHeaders, body };
}
