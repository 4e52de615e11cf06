// Decides which revision of the protocol a request uses. Modern revisions have everything in each request and
// repeat it in HTTP headers; legacy revisions begin with a handshake. Invariant: an accepted request has a
// supported version, and its headers agree with its body.
import type { JsonView } from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import { RpcError, rpcCodes } from './rpc-reply.js';
import type { Frame } from './json-rpc.js';

export type ProtocolStyle = 'modern' | 'legacy';

const modernVersions: readonly string[] = ['2026-07-28'];
/** Supported versions, newest first. */
const legacyVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const servedVersions = [...modernVersions, ...legacyVersions];

const prefix = 'io.modelcontextprotocol/';
const versionName = `${prefix}protocolVersion`;

/** Whether a message is of the modern style, whatever its HTTP headers say. */
export function isModernFrame({ method, params }: Frame): boolean {
  const meta = memberOf(params, '_meta');
  if (method === 'server/discover') return true;
  if (meta?.kind !== 'object') return false;
  // The usual names, so that no strings are created.
  if (meta.member(versionName) !== undefined) return true;
  return meta.names().some((name) => name.startsWith(prefix));
}

/** Fails with RpcError. */
export function styleOf(frame: Frame, exchange: Exchange): ProtocolStyle {
  const header = exchange.mcpVersion;
  if (modernVersions.includes(header) || isModernFrame(frame)) {
    checkModern(frame, exchange, memberOf(frame.params, '_meta'));
    return 'modern';
  }
  if (header !== '' && !legacyVersions.includes(header)) failVersion(header);
  return 'legacy';
}

/** Returns the version of a handshake: the requested one, if it is supported. */
export function agreedVersion(version: string): string {
  return legacyVersions.includes(version) ? version : legacyVersions[0]!;
}

function checkModern(frame: Frame, exchange: Exchange, meta: JsonView | undefined): void {
  const header = exchange.mcpVersion;
  if (header === '') failHeader('MCP-Protocol-Version is missing');
  if (exchange.mcpMethod === '') failHeader('Mcp-Method is missing');
  const version = memberOf(meta, versionName);
  if (version?.kind !== 'string') return failMeta('protocolVersion');
  if (memberOf(meta, `${prefix}clientCapabilities`)?.kind !== 'object') {
    failMeta('clientCapabilities');
  }
  if (!version.is(header)) failHeader('MCP-Protocol-Version is not that of the body');
  if (!modernVersions.includes(header)) failVersion(header);
  if (exchange.mcpMethod !== frame.method) failHeader('Mcp-Method is not that of the body');
  const member = namedBy[frame.method];
  const named = member === undefined ? undefined : memberOf(frame.params, member);
  if (named?.kind !== 'string') return;
  const headerName = decodeName(exchange.mcpName);
  if (headerName === undefined || !named.is(headerName)) {
    failHeader('Mcp-Name is not that of the body');
  }
}

/** Returns the parameter that the header `Mcp-Name` repeats. */
const namedBy: Partial<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * Decodes a header. Text that is not plain ASCII is encoded as `=?base64?...?=`. Returns undefined if the
 * encoding is invalid.
 */
function decodeName(header: string): string | undefined {
  if (!header.startsWith('=?')) return header;
  const coded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1];
  if (coded === undefined) return header;
  const bytes = Buffer.from(coded, 'base64');
  return bytes.toString('base64') === coded ? bytes.toString() : undefined;
}

function memberOf(view: JsonView | undefined, name: string): JsonView | undefined {
  return view?.kind === 'object' ? view.member(name) : undefined;
}

function failHeader(what: string): never {
  throw new RpcError(rpcCodes.header, `Header mismatch: ${what}`);
}

function failMeta(name: string): never {
  throw new RpcError(rpcCodes.params, `Invalid params: _meta lacks ${prefix}${name}`);
}

function failVersion(requested: string): never {
  const details = { supported: servedVersions, requested };
  throw new RpcError(rpcCodes.version, 'Unsupported protocol version', undefined, details);
}
