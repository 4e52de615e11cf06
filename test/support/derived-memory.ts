// A view whose derived table is a sorted array in memory: enough storage for the keyword index.
import type { WriteView } from '../../engine/storage/table/view-types.js';

const textOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1');

export interface DerivedMemory extends WriteView {
  /** Everything stored, ascending by key. */
  entries(): { key: Uint8Array; value: Uint8Array }[];
}

/** All other methods of the view are missing: using one is a TypeError. */
export function derivedMemory(): DerivedMemory {
  const keys: string[] = [];
  const values = new Map<string, Uint8Array>();
  const place = (key: string): number => {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const entry = (key: string): { key: Uint8Array; value: Uint8Array } => ({
    key: new Uint8Array(Buffer.from(key, 'latin1')),
    value: values.get(key)!.slice(),
  });
  const view: Partial<DerivedMemory> = {
    getDerived: (key) => values.get(textOf(key))?.slice(),
    *scanDerived(start, end) {
      const last = textOf(end);
      for (let at = place(textOf(start)); at < keys.length && keys[at]! < last; at++)
        yield entry(keys[at]!);
    },
    putDerived(bytes, value) {
      const key = textOf(bytes);
      if (!values.has(key)) keys.splice(place(key), 0, key);
      values.set(key, value.slice());
    },
    deleteDerived(bytes) {
      const key = textOf(bytes);
      if (values.delete(key)) keys.splice(place(key), 1);
    },
    entries: () => keys.map(entry),
  };
  return view as DerivedMemory;
}
