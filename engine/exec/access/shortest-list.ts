// Chooses the shortest of several paths. Each of them leads to a superset of the wanted elements.
import type { Label } from '../../storage/table/view-types.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import type { IdLookup } from './id-lookup.js';
import { costModel } from './cost-model.js';
import { type RowLimit, scanBudget } from './scan-budget.js';

interface OneOf {
  find: IdLookup;
  /**
   * True if the path can only be read as a whole. An index can be read in parts before its length is known.
   */
  isWhole: boolean;
}

/**
 * Advances the paths in turns until one of them ends. A path that must be read as a whole starts again with a
 * larger budget; these paths go first. If all are long and few rows are wanted, it returns the first of the
 * list.
 */
export function shortestList(label: Label, finds: readonly OneOf[], limit: RowLimit): IdLookup {
  const turns = [true, false].flatMap((whole) =>
    finds.flatMap(({ find, isWhole }, at) => (isWhole === whole ? [{ at, find }] : [])),
  );
  return (frame) => {
    const budget = scanBudget(frame, label, limit);
    const lists = finds.map((): List | null | undefined => undefined);
    const chosen = (list: List): Iterable<Uint32Array> => {
      for (const other of lists) if (other !== list) other?.close();
      return list.rest();
    };
    for (let length = costModel.minPathVisits; ; length *= 4) {
      for (const { at, find } of turns) {
        lists[at] ??= lists[at] === null ? null : begun(frame, find, length);
        if (lists[at]?.endsWithin(frame, length)) return chosen(lists[at]);
      }
      if (lists.every((list) => list === null)) return undefined;
      if (length < budget) continue;
      const first = lists.find((list) => list != null);
      return first && chosen(first);
    }
  };
}

/**
 * Returns the id list of a path, null when the path does not apply, or undefined when `visits` did not
 * suffice.
 */
function begun(frame: Frame, find: IdLookup, visits: number): List | null | undefined {
  const found = frame.tryWithin(visits, () => ({ batches: find(frame, false) }));
  if (found === undefined) return undefined;
  return found.batches === undefined ? null : new List(found.batches);
}

class List {
  readonly #ids = new IdBuffer();
  readonly #from: Iterator<Uint32Array>;

  constructor(batches: Iterable<Uint32Array>) {
    this.#from = batches[Symbol.iterator]();
  }

  endsWithin(frame: Frame, length: number): boolean {
    while (this.#ids.length <= length) {
      const { value, done } = this.#from.next();
      if (done) return true;
      frame.tick(1);
      this.#ids.append(value);
    }
    return false;
  }

  /** Yields what was read already, then the rest. */
  *rest(): Iterable<Uint32Array> {
    try {
      yield this.#ids.take();
      for (;;) {
        const { value, done } = this.#from.next();
        if (done) return;
        yield value;
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#from.return?.();
  }
}
