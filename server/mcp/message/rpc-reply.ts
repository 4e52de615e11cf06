// Answers of JSON-RPC 2.0: results, faults, and the nod to a notification. They are put together as
// text, so that no number passes through JSON.parse.
import { jsonHeaders } from '../../http/header-list.js';
import { okStatus } from '../../http/status-line.js';
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

/** A request that JSON-RPC itself refuses; faults of a tool's arguments are answers of the tool. */
export class RpcFault extends Error {
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

/** Characters of an answer that the transport may take as text: a copy less; longer ones go out in pieces. */
const textMax = 16_384;

/** `members`: of the result, as JSON text without its braces. */
export function resultReply(id: string, members: string): Uint8Array | Reply {
  const body = `{"jsonrpc":"2.0","id":${id},"result":{${members}}}`;
  if (body.length > textMax) return Buffer.from(body);
  return { status: okStatus, headers: jsonHeaders, body };
}

export function faultReply(fault: RpcFault, id: string, isModern: boolean): Reply {
  const { code, message, details } = fault;
  const error = { code, message, ...(details !== undefined && { data: details }) };
  // Older clients take any other status for a fault of the transport, once the era is known.
  const isLate = code === rpcCodes.method || code === rpcCodes.params;
  const status = !isModern && (isLate || code === rpcCodes.noResource) ? okStatus : fault.status;
  const body = `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
  return { status, headers: jsonHeaders, body };
}
