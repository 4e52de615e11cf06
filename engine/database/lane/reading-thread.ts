// What every thread has that reads beside the one which opened the database: a lane as well as a thread
// that is attached. The data file, the schema it answers for, the vector memories, and what plans run
// with. Invariant: it reads only what the guard lets it; while it has let go of the file, nothing.
import type { Limits } from '../../base/limits.js';
import { type Storage, openStorage } from '../../storage/open-storage.js';
import { createTextIndex } from '../../text/text-index-lmdb.js';
import { Gate } from '../call/gate.js';
import type { Equipment } from '../call/runner.js';
import { SchemaGuard } from '../schema/schema-guard.js';
import { AttachedIndexes } from '../vectors/attached-index.js';
import type { Equip } from './message.js';

export interface ReadingSetup {
  /** The words that all threads share (gate.ts). */
  readonly gate: SharedArrayBuffer;
  readonly graphPath: string;
  readonly limits: Limits;
  readonly textEnabled: boolean;
  readonly strict: boolean;
}

export class ReadingThread {
  readonly gate: Gate;
  readonly guard: SchemaGuard;
  readonly indexes = new AttachedIndexes();
  readonly equipment: Equipment;
  readonly #storage: Storage;
  /** Whether this thread has the data file open. */
  holds = true;

  constructor({ gate, graphPath, limits, textEnabled, strict }: ReadingSetup) {
    this.gate = new Gate(gate);
    this.#storage = openStorage(graphPath, { limits, mode: 'read', notes: this.gate.notes });
    this.guard = new SchemaGuard(this.gate, this.#storage);
    this.equipment = {
      limits,
      strict,
      text: textEnabled ? createTextIndex(limits) : undefined,
      vectors: this.indexes.byLabel,
    };
  }

  equip({ schema, indexes }: Equip): void {
    this.guard.equip(schema);
    this.indexes.takeAll(indexes);
  }

  /** Lets go of the data file, for good or until `reopen`. */
  release(): Promise<void> {
    this.holds = false;
    return this.#storage.close();
  }

  reopen(): void {
    this.#storage.reopen();
    this.holds = true;
  }
}
