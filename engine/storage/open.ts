// Opens the store on any thread: reads everywhere, writes on the one thread that commits.
import type { Limits } from '../base/limits.js';
import { catalogOf, readCatalog } from './catalog.js';
import { openEnv } from './env.js';
import { metaKey, readState, writeState } from './meta.js';
import { LmdbView, type RefreshableView } from './read-view.js';
import type { Catalog, VectorChange } from './store.js';
import { type LoggedChange, replayLog } from './vlog.js';
import { Writer, type WriteGroup } from './writer.js';
import type { VectorTypeOptions } from './write-view.js';

export type { RefreshableView };

export interface StorageOptions {
  limits: Limits;
  /** `create` on the first thread, before all others; `attach` elsewhere. */
  mode: 'create' | 'attach';
  /** Of the writer: how embeddings are kept, per vector type. */
  vectorTypes?: Readonly<Record<string, VectorTypeOptions>>;
}

export interface Storage {
  /** As of opening, the last `applySchema` on this thread, or `reloadCatalog`. */
  readonly catalog: Catalog;
  reloadCatalog(): void;
  /** A view of the newest commit, with the present catalog. */
  reader(): RefreshableView;
  /**
   * One durable transaction for a group of requests. Returns the vector changes committed, in sequence order; the last has
   * `committedSeq()`. An error that comes out of it (not out of a request) means that storage failed: stop writing.
   */
  commitGroup(work: (group: WriteGroup) => void): VectorChange[];
  /** Changes of vector indexes after a sequence, ascending. */
  replay(afterSeq: number): Iterable<LoggedChange>;
  /** Lowest sequence the log still holds, or would hold. */
  oldestLoggedSeq(): number;
  /** Sequence of the newest committed vector change, 0 before the first. */
  committedSeq(): number;
  /** Forgets log entries up to and including a sequence. */
  trimLog(upToSeq: number): void;
  close(): void;
}
