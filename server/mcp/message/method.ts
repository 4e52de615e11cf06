// The interface of a protocol method: it turns one request into members of its result. endpoint.ts adds the
// frame.
import type { Caller } from '../../auth/keys.js';
import type { Exchange } from '../../http/exchange.js';
import type { StreamReply } from '../../pipeline/router.js';
import type { ProtocolStyle } from './protocol-version.js';
import type { Frame } from './json-rpc.js';

/** One request. */
export interface MethodCall {
  frame: Frame;
  era: ProtocolStyle;
  exchange: Exchange;
  key: Caller | undefined;
}

export interface Answer {
  /** Members of the result as JSON text: at least one, unless `reply` is set. */
  members: string;
  /** Result of a tool instead of members: an object that is sent as text and as structured content. */
  reply?: Uint8Array;
  /** Members of `_meta` of the result. */
  meta?: string;
  /** Whether and for how long clients can cache the result. */
  keep?: 'lists' | 'always' | 'never';
  failed?: true;
}

export interface Method {
  /** The only protocol style with this method. */
  era?: ProtocolStyle;
  answer(call: MethodCall): Answer | StreamReply | Promise<Answer>;
}

export type Methods = readonly (readonly [name: string, Method])[];

/** Members of an object as JSON text, without its braces. */
export const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1);
