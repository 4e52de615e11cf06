// Defines the batches of requests and replies between the main thread and the lanes. Everything of one
// event-loop turn is sent as one message with one transferred buffer, which costs a third of an object of
// arrays. Rings in shared memory with a doorbell were tried as an alternative. The CPU per request was the
// same with 16 and 64 in flight, and the latency 10 to 20 us of about 90 lower with one. That is not worth a
// protocol that may lose a wake-up.
//
//   bodies, end to end | padding to 8 | heads, 8-byte floats | their count
//
//   to a lane     8 numbers per request   [slot, query, bodyStart, bodyEnd, deadline, budgetMs, expected, caller]
//                   query = index in the program, -1 = in extras; deadline in Unix ms; expected = microseconds
//                   that a write probably takes; caller = a number that distinguishes callers
//   from a lane   8 numbers per reply     [slot, outcome, start, end, micros, rows, visits, own]
//                   outcome 0 = body, 1 = error, 2 = body and items; micros = work, for the costs;
//                   own = writes only: time without the share of the commit
//
import type { ErrorData } from '../../base/errors.js';
import type { ItemList } from '../../exec/runtime/execute.js';
import type { IdempotencyKey } from '../idempotency/idempotency-key.js';

export const requestWords = 8;
export const replyWords = 8;

/** What a request carries beyond its body. `plan` and `args` are packed. */
export interface RequestExtra {
  slot: number;
  plan?: unknown;
  args?: unknown;
  /** For a plan: schema version for which it was compiled. */
  schema?: number;
  items?: ItemList;
  embeddings?: [string, Float64Array][];
  /** For a write with an idempotency key. */
  idempotency?: IdempotencyKey;
}

export type ReplyExtra =
  | { slot: number; kind: 'error'; error: ErrorData; stack?: string }
  | { slot: number; kind: 'items'; items: ItemList };

/** A message of requests or of replies. */
export type Batch<Extra> = ArrayBuffer | { kind: 'batch'; buffer: ArrayBuffer; extras: Extra[] };

interface OpenedBatch<Extra> {
  heads: Float64Array;
  bytes: Uint8Array;
  extras: Map<number, Extra>;
}

/** Returns a buffer for `size` bytes of bodies from offset 0 on, and these heads. */
export function packBatch(size: number, heads: ArrayLike<number>): ArrayBuffer {
  const start = Math.ceil(size / 8) * 8;
  const buffer = new ArrayBuffer(start + heads.length * 8 + 8);
  const words = new Float64Array(buffer, start);
  words.set(heads);
  words[heads.length] = heads.length;
  return buffer;
}

export function isBatch<Extra>(message: Batch<Extra> | { kind: string }): message is Batch<Extra> {
  return message instanceof ArrayBuffer || message.kind === 'batch';
}

const none = new Map<number, never>();

export function openBatch<Extra extends { slot: number }>(batch: Batch<Extra>): OpenedBatch<Extra> {
  const buffer = batch instanceof ArrayBuffer ? batch : batch.buffer;
  const end = buffer.byteLength - 8;
  const count = new Float64Array(buffer, end, 1)[0]!;
  return {
    heads: new Float64Array(buffer, end - count * 8, count),
    bytes: new Uint8Array(buffer),
    extras:
      batch instanceof ArrayBuffer
        ? none
        : new Map(batch.extras.map((extra) => [extra.slot, extra])),
  };
}
