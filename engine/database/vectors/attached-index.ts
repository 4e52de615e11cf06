// The vector indexes a reading thread has attached to, by label. Invariant: an index is attached once;
// a fresher handle of it only adds memories, since every attachment takes scratch space in shared
// memory, and what a change of the schema has replaced or taken away is let go of.
import { assert } from '../../base/assert.js';
import type { IndexHandle } from '../../vector/index.js';
import { type SharedIndex, attachVectorIndex } from '../../vector/shared-index.js';

interface LabelHandle {
  label: number;
  handle: IndexHandle;
}

export class AttachedIndexes {
  readonly #attached = new Map<number, SharedIndex>();

  get byLabel(): ReadonlyMap<number, SharedIndex> {
    return this.#attached;
  }

  handles(): LabelHandle[] {
    return [...this.#attached].map(([label, index]) => ({ label, handle: index.handle() }));
  }

  /** An index that was taken before. */
  of(label: number): SharedIndex {
    const index = this.#attached.get(label);
    assert(index, 'an index is attached before it is used');
    return index;
  }

  take({ label, handle }: LabelHandle): void {
    const known = this.#attached.get(label);
    if (known?.number === handle.number) return known.addMemory(handle);
    known?.close();
    this.#attached.set(label, attachVectorIndex(handle));
  }

  /** Takes these, and lets go of all others. */
  takeAll(list: readonly LabelHandle[]): void {
    const labels = new Set(list.map(({ label }) => label));
    for (const [label, index] of this.#attached) {
      if (labels.has(label)) continue;
      index.close();
      this.#attached.delete(label);
    }
    for (const each of list) this.take(each);
  }
}
