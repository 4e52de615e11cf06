// The interface of a tool: its entry in the list, who may see it, and its call.
//
// Invariant: a call fails with a TrellisError, which the caller turns into a result.
import type { Query, TrellisError } from '../../../engine/internal.js';
import { errorBody } from '../../http/http-error.js';
import type { Exchange } from '../../http/exchange.js';
import type { Caller } from '../../auth/keys.js';
import type { ProtocolStyle } from '../message/protocol-version.js';
import { type Answer, membersOf } from '../message/method.js';
import type { Output } from './output.js';

/** One call of a tool. */
export interface ToolCall {
  exchange: Exchange;
  /** The arguments as JSON text, without the reserved ones; empty for none. */
  args: Uint8Array;
  /** The caller. */
  key: Caller | undefined;
  /** Maximum number of characters of the result. */
  limit: number;
}

export interface Tool {
  name: string;
  /** Entry in `tools/list` as JSON text; created at the first use. */
  entry: () => string;
  /** The query of the tool, if it has one. */
  query?: Query;
  call(call: ToolCall): Output | Promise<Output>;
}

/** Argument that every tool with long results accepts. */
export const limitArgument = '_limit_chars';
export const limitSchema = {
  type: 'integer',
  minimum: 1,
  description: 'At most so many characters of the answer.',
};

/** Codes after which the text says that the call can be repeated. */
const passing: ReadonlySet<string> = new Set(['NOT_READY', 'OVERLOADED', 'QUERY_TIMEOUT']);

/**
 * Returns the result of a failed call, from which a model can correct the call. Older clients validate
 * structured content against the schema of the tool, so for them the error is in `_meta`.
 */
export function failedCall(
  error: TrellisError,
  era: ProtocolStyle,
): Pick<Answer, 'members' | 'meta'> {
  const {
    code,
    error: sentence,
    retryable,
    path,
    hint,
    errors,
  } = JSON.parse(errorBody(error.data, '')) as Record<string, unknown>;
  const again = passing.has(String(code)) ? ' The same call may succeed in a moment.' : '';
  const text = `${code}: ${sentence}${hint === undefined ? '' : ` Hint: ${hint}`}${again}`;
  const structured = { error: sentence, code, retryable, path, hint, errors };
  const content = [{ type: 'text', text }];
  if (era === 'modern') {
    return { members: membersOf({ content, structuredContent: structured, isError: true }) };
  }
  const meta = membersOf({ 'dev.trellisdb/error': structured });
  return { members: membersOf({ content, isError: true }), meta };
}
