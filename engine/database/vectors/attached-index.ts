// Keeps the vector indexes that a reading thread has attached, by label.
// Invariant: each index is attached once, because every attachment takes scratch space in shared memory. A
// newer handle of an index only adds memory. Indexes that a schema change has replaced or dropped are
// detached.
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

  /** Returns an index that was attached before. */
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

  /** Attaches these indexes and detaches all others. */
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
