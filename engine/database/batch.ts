// What travels between the main thread and the lanes. Everything that arrived in one event-loop
// turn goes as one message.
//
//   to a lane     { kind: 'batch', heads, bytes, extras }    heads: 6 numbers per request
//                   [slot, query, bodyStart, bodyEnd, deadline, budgetMs] ...
//                   query = index in the program, -1 = extras has it; deadline in Unix ms
//   from a lane   { kind: 'replies', heads, bytes, extras }  heads: 4 numbers per reply
//                   [slot, outcome, start, end] ...           outcome 0 = body, 1 = error, 2 = body and items
//
// `slot` names the call on the way back and is also its cancel word (gate.ts). Bodies lie end to
// end in `bytes`. Errors and items travel in `extras`, keyed by slot.
import type { ErrorData } from '../base/errors.js';
import type { ItemList } from '../exec/execute.js';

export const requestWords = 6;
export const replyWords = 4;

/** What a request carries beyond its body; `plan` and `args` are packed. */
export interface RequestExtra {
  slot: number;
  plan?: unknown;
  args?: unknown;
  items?: ItemList;
  embeddings?: [string, Float64Array][];
}

export interface Batch {
  kind: 'batch';
  heads: Float64Array;
  bytes: Uint8Array;
  extras?: RequestExtra[];
}

export type ReplyExtra =
  | { slot: number; kind: 'error'; error: ErrorData; stack?: string }
  | { slot: number; kind: 'items'; items: ItemList };

export interface Replies {
  kind: 'replies';
  heads: Float64Array;
  bytes: Uint8Array;
  extras?: ReplyExtra[];
  /** Microseconds of work per reply, for the cost correction. */
  micros: Float64Array;
}
