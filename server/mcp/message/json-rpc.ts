// Parses a JSON-RPC 2.0 message of the Model Context Protocol: one object. Reads it from the received bytes,
// so that no number passes through JSON.parse. Invariant: an error contains the id of its request if the id
// could be parsed.
import { type JsonView, type Limits, scanBody, TrellisError } from '../../../engine/internal.js';
import { RpcError, rpcCodes } from './rpc-reply.js';

/** A request, or a notification, which has no id. */
export interface Frame {
  body: Uint8Array;
  /** Id as JSON text. */
  id: string | undefined;
  method: string;
  params: JsonView | undefined;
}

/** Fails with RpcError. */
export function readFrame(body: Uint8Array, limits: Limits, bytesMax: number): Frame {
  if (body.length > bytesMax) throw new RpcError(rpcCodes.parse, `More than ${bytesMax} bytes`);
  const root = scan(body, limits);
  const id = idOf(root.member('id'), body);
  const refuse = (what: string): never => {
    const rpcError = new RpcError(rpcCodes.request, `Invalid request: ${what}`);
    rpcError.id = id ?? 'null';
    throw rpcError;
  };
  const version = root.member('jsonrpc');
  if (version?.kind !== 'string' || !version.is('2.0')) refuse('jsonrpc is not "2.0"');
  const method = root.member('method');
  if (method?.kind !== 'string') return refuse('method is no string');
  return { body, id, method: method.text(), params: root.member('params') };
}

function scan(body: Uint8Array, limits: Limits): JsonView {
  if (body.length === 0) throw new RpcError(rpcCodes.parse, 'The body is empty');
  try {
    const root = scanBody(body, limits);
    if (root.kind === 'object') return root;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    if (error.code !== 'BODY_NOT_OBJECT') throw new RpcError(rpcCodes.parse, error.message);
  }
  throw new RpcError(rpcCodes.request, 'Invalid request: one object is needed');
}

/** Returns the id, a string or an integer, as its JSON text. */
function idOf(view: JsonView | undefined, body: Uint8Array): string | undefined {
  if (view === undefined) return undefined;
  if (view.kind === 'string' || view.integral) return rawText(view, body);
  throw new RpcError(rpcCodes.request, 'Invalid request: id is neither string nor integer');
}

/** Returns a value as its JSON text. */
export function rawText(view: JsonView, body: Uint8Array): string {
  const { kind } = view;
  if (kind === 'null') return 'null';
  if (kind === 'boolean') return String(view.boolean());
  // Most ids are short integers, which need no copy.
  if (kind === 'number') return view.token();
  if (view.verbatim) return `"${view.text()}"`;
  const quote = kind === 'string' ? 1 : 0;
  const [start, end] = [view.start - quote, view.start + view.size + quote];
  return Buffer.from(body.buffer, body.byteOffset + start, end - start).toString();
}

/** Returns a member of the parameters that must be a string. */
export function textParameter(frame: Frame, name: string): string {
  const { params } = frame;
  const view = params?.kind === 'object' ? params.member(name) : undefined;
  if (view?.kind === 'string') return view.text();
  throw new RpcError(rpcCodes.params, `Invalid params: ${name} is no string`);
}

/**
 * The trace context in the body of a client that cannot set the `traceparent` header. Empty without one.
 */
export function traceparentOf({ params }: Frame): string {
  const meta = params?.member('_meta');
  const trace = meta?.kind === 'object' ? meta.member('traceparent') : undefined;
  return trace?.kind === 'string' ? trace.text() : '';
}
