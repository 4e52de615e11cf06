// The vector indexes a reading thread has attached to, by label. Invariant: an index is attached once;
// a fresher handle only adds memories, since every attachment takes scratch space in shared memory.
// The writer never replaces the index of a label after it has handed it out.
import { assert } from '../base/assert.js';
import type { IndexHandle } from '../vector/index.js';
import { type SharedIndex, attachVectorIndex } from '../vector/open.js';

export class AttachedIndexes {
  readonly #attached = new Map<number, SharedIndex>();

  get byLabel(): ReadonlyMap<number, SharedIndex> {
    return this.#attached;
  }

  /** An index that was taken before. */
  of(label: number): SharedIndex {
    const index = this.#attached.get(label);
    assert(index, 'an index is attached before it is used');
    return index;
  }

  take(label: number, handle: IndexHandle): void {
    const known = this.#attached.get(label);
    if (known) known.addMemory(handle);
    else this.#attached.set(label, attachVectorIndex(handle));
  }
}
