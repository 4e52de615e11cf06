// Holds the indexes of new vectors that no search uses yet, by type. Runs on the writer thread.
import { fail } from '../../base/errors.js';
import type { Label } from '../../storage/table/view-types.js';
import { bulkFrom, type Rows } from '../../vector/bulk.js';
import type { IndexHandle, IndexOptions } from '../../vector/index.js';
import { type IndexHooks, type SharedIndex, createVectorIndex } from '../../vector/shared-index.js';

export interface ShadowParts {
  optionsOf: (label: Label) => IndexOptions;
  segmentBytes: number | undefined;
  /** The configured dimension of a type. */
  dimensionOf: (label: Label) => number | undefined;
  onIndex: (label: number, handle: IndexHandle) => void;
  onBuild: (label: number, handle: IndexHandle) => void;
}

interface Shadow {
  index: SharedIndex;
  isLive: boolean;
}

/** Number under which other threads help to build: no label has it, so that no search uses the index. */
const hiddenNumber = (label: number): number => -1 - label;

export class ShadowIndexes {
  readonly #shadows = new Map<number, Shadow>();

  constructor(private readonly parts: ShadowParts) {}

  #of(label: Label): Shadow {
    const known = this.#shadows.get(label.id);
    if (known) return known;
    const { optionsOf, segmentBytes, onIndex, onBuild } = this.parts;
    const numberOf = (): number => (shadow.isLive ? label.id : hiddenNumber(label.id));
    const hooks: IndexHooks = {
      onSegment: (handle) => shadow.isLive && onIndex(label.id, handle),
      onBuild: (handle) => onBuild(numberOf(), handle),
      ...(segmentBytes === undefined ? {} : { segmentBytes }),
    };
    const index = createVectorIndex(label.name, optionsOf(label), hooks);
    const shadow: Shadow = { index, isLive: false };
    this.#shadows.set(label.id, shadow);
    return shadow;
  }

  /** Fails VECTOR_DIMENSION or VECTOR_CAPACITY when vectors do not fit. */
  check(label: Label, count: number, dimension: number): void {
    const { index } = this.#of(label);
    const expected = index.dimension || (this.parts.dimensionOf(label) ?? dimension);
    if (dimension !== expected)
      fail('VECTOR_DIMENSION', { type: label.name, expected, got: dimension });
    if (!index.hasRoom(count, dimension)) fail('VECTOR_CAPACITY', { type: label.name });
  }

  /** Adds vectors, or replaces those of the same ids. */
  add(label: Label, ids: Uint32Array, rows: Rows): void {
    const { index } = this.#of(label);
    if (ids.length >= bulkFrom) return index.insertBatch(ids, rows);
    for (let i = 0; i < ids.length; i++) index.put(ids[i]!, rows(i)!);
  }

  drop(label: number): void {
    this.#shadows.get(label)?.index.close();
    this.#shadows.delete(label);
  }

  /** Removes and returns the index of a type, which searches use from now on. `keeps` says which ids stay. */
  take(label: Label): SharedIndex {
    const shadow = this.#of(label);
    this.#shadows.delete(label.id);
    shadow.isLive = true;
    return shadow.index;
  }
}
