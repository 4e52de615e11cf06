// Holds what every reading thread has open, in a lane or attached: the data file, the schema that it serves,
// the vector memory, and the services for plans.
// Invariant: it reads only through the schema guard, and reads nothing while the data file is released.
import type { LanguageName } from '../../base/text/language-name.js';
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
  readonly control: SharedArrayBuffer;
  readonly graphPath: string;
  readonly limits: Limits;
  readonly textEnabled: boolean;
  readonly textLanguage: LanguageName;
  readonly strict: boolean;
}

export class ReaderContext {
  readonly control: ControlBlock;
  readonly guard: SchemaGuard;
  readonly indexes = new AttachedIndexes();
  readonly services: ExecutorServices;
  readonly #storage: Storage;
  /** True while this thread has the data file open. */
  holds = true;

  constructor({ control, graphPath, limits, textEnabled, textLanguage, strict }: ReadingSetup) {
    this.control = new ControlBlock(control);
    this.#storage = openStorage(graphPath, { limits, mode: 'read', notes: this.control.notes });
    this.guard = new SchemaGuard(this.control, this.#storage);
    this.services = {
      limits,
      strict,
      text: textEnabled ? createTextIndex(limits, textLanguage) : undefined,
      vectors: this.indexes.byLabel,
    };
  }

  configure({ schema, indexes }: ConfigureLane): void {
    this.guard.configure(schema);
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
