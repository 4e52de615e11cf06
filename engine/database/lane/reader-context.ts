// Holds what every reading thread has open, in a lane or attached: the data file, the schema that it serves,
// the vector memory, and the services for plans.
// Invariant: it reads only through the schema guard, and reads nothing while the data file is released.
import type { Limits } from '../../base/limits.js';
import { type Storage, openStorage } from '../../storage/open-storage.js';
import { createTextIndex } from '../../text/text-index.js';
import { ControlBlock } from '../call/control-block.js';
import type { ExecutorServices } from '../call/run-request.js';
import { SchemaGuard } from '../schema/schema-guard.js';
import { AttachedIndexes } from '../vectors/attached-index.js';
import type { ConfigureLane } from './message.js';

export interface ReadingSetup {
  /** The control block in shared memory (control-block.ts). */
  readonly gate: SharedArrayBuffer;
  readonly graphPath: string;
  readonly limits: Limits;
  readonly textEnabled: boolean;
  readonly strict: boolean;
}

export class ReaderContext {
  readonly gate: ControlBlock;
  readonly guard: SchemaGuard;
  readonly indexes = new AttachedIndexes();
  readonly equipment: ExecutorServices;
  readonly #storage: Storage;
  /** True while this thread has the data file open. */
  holds = true;

  constructor({ gate, graphPath, limits, textEnabled, strict }: ReadingSetup) {
    this.gate = new ControlBlock(gate);
    this.#storage = openStorage(graphPath, { limits, mode: 'read', notes: this.gate.notes });
    this.guard = new SchemaGuard(this.gate, this.#storage);
    this.equipment = {
      limits,
      strict,
      text: textEnabled ? createTextIndex(limits) : undefined,
      vectors: this.indexes.byLabel,
    };
  }

  equip({ schema, indexes }: ConfigureLane): void {
    this.guard.equip(schema);
    this.indexes.takeAll(indexes);
  }

  /** Releases the data file, permanently or until `reopen`. */
  release(): Promise<void> {
    this.holds = false;
    return this.#storage.close();
  }

  reopen(): void {
    this.#storage.reopen();
    this.holds = true;
  }
}
