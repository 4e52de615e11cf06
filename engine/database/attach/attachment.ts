// Defines what another thread of this process needs to read the database itself (attached-reader.ts), and the
// messages between that thread and the opening thread (attach-host.ts).
import type { MessagePort } from 'node:worker_threads';
import type { ErrorData } from '../../base/errors.js';
import type { AddIndex, ConfigureLane } from '../lane/message.js';
import type { ReadingSetup } from '../lane/reader-context.js';

/**
 * What one other thread needs to read in place, as `db.attachment()` gives it. Transfer its `port`.
 *
 * @example
 * const attachment: Attachment = db.attachment();
 * new Worker('./reader.js', { workerData: attachment, transferList: [attachment.port] });
 */
export interface Attachment extends ReadingSetup {
  readonly port: MessagePort;
  /** Number of reader lanes. */
  readonly lanes: number;
}

export type ToAttached =
  | ConfigureLane
  | AddIndex
  /** Release the data file, permanently or until `reopen`. */
  | { kind: 'release' }
  | { kind: 'reopen' }
  | { kind: 'answer'; id: number; body?: Uint8Array; error?: ErrorData };

export type FromAttached =
  | { kind: 'released' }
  /** A call that does not run on the attached thread. */
  | { kind: 'call'; id: number; name: string; body: Uint8Array }
  /** From now on, reads on the attached thread are counted in this memory (shared-query-metrics.ts). */
  | { kind: 'metrics'; names: readonly string[]; buffer: SharedArrayBuffer };
