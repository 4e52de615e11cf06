// What another thread of this process is given to read the database in place (attached.ts), and what it
// and the thread that opened it tell each other from then on (host.ts).
import type { MessagePort } from 'node:worker_threads';
import type { ErrorData } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { AddIndex, Equip } from '../lane/message.js';

/** For one thread: post it with `port` in the list of what is transferred. */
export interface Attachment {
  readonly port: MessagePort;
  /** The words that all threads share (gate.ts). */
  readonly gate: SharedArrayBuffer;
  readonly graphPath: string;
  readonly limits: Limits;
  readonly textEnabled: boolean;
  readonly strict: boolean;
}

export type ToAttached =
  | Equip
  | AddIndex
  /** Lets go of the data file, for good or until `reopen`. */
  | { kind: 'release' }
  | { kind: 'reopen' }
  | { kind: 'answer'; id: number; body?: Uint8Array; error?: ErrorData };

export type FromAttached =
  | { kind: 'released' }
  /** What is not read in place. */
  | { kind: 'call'; id: number; name: string; body: Uint8Array }
  /** Reads made in place: place of the query among `names`, micros, rows, visits of each. */
  | { kind: 'spent'; names: string[]; reads: Float64Array };

/** Numbers of one read in `spent`. */
export const readNumbers = 4;
