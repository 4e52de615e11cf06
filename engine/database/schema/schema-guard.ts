// Lets a reading thread run only what was made for the schema of the data it sees. A reload that
// changes more than it adds counts up a word of the gate before its transaction and after it: while
// the word stands, nothing can have changed; between the two, the catalog in the data tells; after
// the second, this thread waits to be equipped with the program that belongs to it. Invariant: an
// answer comes from a program, a catalog, data and indexes of one schema, or it does not come.
import { fail } from '../../base/errors.js';
import type { RefreshableView, Storage } from '../../storage/open-storage.js';
import type { ControlBlock } from '../call/control-block.js';

export class SchemaGuard {
  /** Of the newest commit. */
  view: RefreshableView;
  /** That of the programs this thread was given last. */
  #schema = 0;
  /** Whether `view` has its catalog. */
  #isKnown = false;

  constructor(
    private readonly gate: ControlBlock,
    private readonly storage: Storage,
  ) {
    this.view = storage.reader();
  }

  get schema(): number {
    return this.#schema;
  }

  /** The thread was given a program of this schema. */
  equip(schema: number): void {
    this.#schema = schema;
    this.#readCatalog();
  }

  #readCatalog(): void {
    this.storage.reloadCatalog();
    this.view = this.storage.reader();
    this.#isKnown = this.gate.schema() === this.#schema;
  }

  /**
   * What `work` makes of the view, for a program of schema `made`. Fails SCHEMA_CHANGED, also when
   * that was found out afterwards only.
   */
  run<T>(made: number, work: (view: RefreshableView) => T): T {
    if (this.gate.hasNewCommit()) this.view.refresh();
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
    const now = this.gate.schema();
    if (made === this.#schema) {
      if (now === made && !this.#isKnown) this.#readCatalog();
      if (now === made && this.#isKnown) return;
      if (now === made + 1 && this.#isKnown && this.storage.isCurrent()) return;
    }
    fail('SCHEMA_CHANGED');
  }

  /** A look at data and catalog alone, whatever program they belong to. */
  look<T>(work: (view: RefreshableView) => T): T {
    if (this.gate.hasNewCommit()) this.view.refresh();
    // As long as this thread does not let go, it sees one state of the data.
    if (!this.storage.isCurrent()) this.#readCatalog();
    return work(this.view);
  }
}
