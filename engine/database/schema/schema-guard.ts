// Lets a reading thread run only what was compiled for the schema of the data it sees. A reload that changes
// more than it adds increments a word of the control block before and after its transaction. While the word
// is unchanged, nothing has changed. Between the two increments, the catalog in the data decides. After the
// second one, the thread waits for the matching program.
// Invariant: a result comes from a program, a catalog, data and indexes of one schema, or the call fails.
import { fail } from '../../base/errors.js';
import type { RefreshableView, Storage } from '../../storage/open-storage.js';
import type { ControlBlock } from '../call/control-block.js';

export class SchemaGuard {
  /** View of the newest commit. */
  view: RefreshableView;
  /** Schema version of the program that this thread received last. */
  #schema = 0;
  /** True if `view` has the catalog of that version. */
  #isKnown = false;

  constructor(
    private readonly control: ControlBlock,
    private readonly storage: Storage,
  ) {
    this.view = storage.reader();
  }

  get schema(): number {
    return this.#schema;
  }

  /** Records that the thread received a program of this schema version. */
  configure(schema: number): void {
    this.#schema = schema;
    this.#readCatalog();
  }

  #readCatalog(): void {
    this.storage.reloadCatalog();
    this.view = this.storage.reader();
    this.#isKnown = this.control.schema() === this.#schema;
  }

  /**
   * Returns the result of `work` on the view, for a program of schema version `made`. Fails SCHEMA_CHANGED,
   * even if the change is detected only afterwards.
   */
  run<T>(made: number, work: (view: RefreshableView) => T): T {
    if (this.control.hasNewCommit()) this.view.refresh();
    this.#check(made);
    let result: T;
    try {
      result = work(this.view);
    } catch (error) {
      this.#check(made);
      throw error;
    }
    this.#check(made);
    return result;
  }

  #check(made: number): void {
    const now = this.control.schema();
    if (made === this.#schema) {
      if (now === made && !this.#isKnown) this.#readCatalog();
      if (now === made && this.#isKnown) return;
      if (now === made + 1 && this.#isKnown && this.storage.isCurrent()) return;
    }
    fail('SCHEMA_CHANGED');
  }

  /** Reads data and catalog, independent of the program. */
  read<T>(work: (view: RefreshableView) => T): T {
    if (this.control.hasNewCommit()) this.view.refresh();
    // Within one synchronous call, this thread sees one state of the data.
    if (!this.storage.isCurrent()) this.#readCatalog();
    return work(this.view);
  }
}
