// What another thread of this process is given to read the database in place (attached-reader.ts), and what it
// and the thread that opened it tell each other from then on (attach-host.ts).
import type { MessagePort } from 'node:worker_threads';
import type { ErrorData } from '../../base/errors.js';
import type { AddIndex, ConfigureLane } from '../lane/message.js';
import type { ReadingSetup } from '../lane/reader-context.js';

/** For one thread: post it with `port` in the list of what is transferred. */
export interface Attachment extends ReadingSetup {
  readonly port: MessagePort;
  /** How many reading lanes there are. */
  readonly lanes: number;
}

export type ToAttached =
  | ConfigureLane
  | AddIndex
  /** Lets go of the data file, for good or until `reopen`. */
  | { kind: 'release' }
  | { kind: 'reopen' }
  | { kind: 'answer'; id: number; body?: Uint8Array; error?: ErrorData };

export type FromAttached =
  | { kind: 'released' }
  /** What is not read in place. */
  | { kind: 'call'; id: number; name: string; body: Uint8Array }
  /** Where reads are counted from now on that are made in place (shared-query-metrics.ts). */
  | { kind: 'tally'; names: readonly string[]; buffer: SharedArrayBuffer };
