// Rolls back a load, the last chunk first: elements that it created are removed, and elements that it changed
// get their former values. It uses several transactions, so that other writes do not wait for all of it.
// Invariant: at every moment, the record of a chunk states exactly what is left of the chunk.
import { kindOf, decodeProperty, labelOf } from '../../storage/record/record.js';
import { textsOf } from '../../storage/record/text-document.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { distinct } from '../../base/u32-array.js';
import type { LoadView } from '../../storage/view/load-view.js';
import { getWord, putWord } from '../../storage/table/little-endian.js';
import type { TextIndex } from '../../text/text-index-types.js';
import { digestOf, undoKey, undoRange } from './load-key.js';
import { deleteChunk, rewriteChunk } from './load-checkpoint.js';
import type { Label, PropertyValues } from '../../storage/table/view-types.js';
import { readChunk } from './load-piece.js';

/** Elements that one transaction removes, together with the edges of nodes. */
const elementBatch = 20_000;

/** Changes that one transaction undoes. */
const changeBatch = 5_000;

/** An element before a row changed it. */
export interface FormerElement {
  id: number;
  record: Uint8Array;
  vector?: Float64Array | undefined;
}

/** Records what the rows of chunk `chunk` have changed, in its transaction. */
export function noteFormer(
  view: LoadView,
  name: string,
  chunk: number,
  former: readonly FormerElement[],
): void {
  const digest = digestOf(name);
  former.forEach(({ id, record, vector }, at) => {
    const numbers = new Uint8Array(vector ? vector.slice().buffer : new ArrayBuffer(0));
    const value = new Uint8Array(8 + record.length + numbers.length);
    putWord(value, 0, id);
    putWord(value, 4, record.length);
    value.set(record, 8);
    value.set(numbers, 8 + record.length);
    view.putDerived(undoKey(digest, chunk, at), value);
  });
}

/** Rolls back a part of `chunk`, which must be the last one. Returns true if more of it is left. */
export function takeBackPart(
  view: LoadView,
  { name, chunk }: { name: string; chunk: number },
  text: TextIndex | undefined,
): boolean {
  const loaded = readChunk(view, name, chunk);
  if (loaded === undefined) return false;
  const { made = 0, firstId } = loaded;
  if (made > 0) {
    const first = firstId + Math.max(0, made - elementBatch);
    removeElements(view, first, firstId + made, text);
    rewriteChunk(view, name, chunk, { ...loaded, made: first - firstId, isLeaving: true });
    return true;
  }
  const digest = digestOf(name);
  let count = 0;
  // Undo the last change first: an element may have been changed more than once.
  const changes = [...view.scanDerived(...undoRange(digest, chunk))].slice(-changeBatch);
  for (const { key, value } of changes.reverse()) {
    restore(view, value, text);
    view.deleteDerived(key);
    count++;
  }
  if (count === changeBatch) {
    rewriteChunk(view, name, chunk, { ...loaded, isLeaving: true });
    return true;
  }
  deleteChunk(view, name, chunk, loaded);
  return false;
}

function removeElements(
  view: LoadView,
  from: number,
  to: number,
  text: TextIndex | undefined,
): void {
  const own: number[] = [];
  const edges: number[] = [];
  for (let id = from; id < to; id++) {
    const record = view.record(id);
    // Another request may have removed the element since.
    if (record === undefined) continue;
    own.push(id);
    if (kindOf(record) === 'edge') continue;
    for (const edge of view.incident(id)) edges.push(edge);
    const label = view.catalog.label(labelOf(record));
    text?.replace(view, label.id, id, textsOf(label, record), []);
  }
  view.removeAll(distinct(Uint32Array.from([...own, ...edges])));
}

/** Returns true if another element now has one of its unique values. */
function isTaken(view: LoadView, label: Label, values: PropertyValues, id: number): boolean {
  return label.properties.some((property) => {
    const value = values.get(property.name) ?? null;
    if (property.index !== 'unique' || value === null) return false;
    return view.lookup(property, value).some((holder) => holder !== id);
  });
}

function restore(view: LoadView, value: Uint8Array, text: TextIndex | undefined): void {
  const id = getWord(value, 0);
  const end = 8 + getWord(value, 4);
  const record = value.slice(8, end);
  const now = view.record(id);
  if (now === undefined) return;
  const label = view.catalog.label(labelOf(record));
  const values = new Map(
    label.properties.map((property) => [
      property.name,
      decodeProperty(record, property) as Scalar | ScalarList,
    ]),
  );
  if (isTaken(view, label, values, id)) return;
  view.change(id, values);
  if (end < value.length) view.replaceVector(id, new Float64Array(value.slice(end).buffer));
  if (label.kind !== 'edge') {
    text?.replace(view, label.id, id, textsOf(label, now), textsOf(label, record));
  }
}

/** Deletes at most `max` undo records of a finished load. Returns true if more are left. */
export function dropUndo(view: LoadView, name: string, max: number): boolean {
  const [start, end] = undoRange(digestOf(name));
  let count = 0;
  const keys: Uint8Array[] = [];
  for (const { key } of view.scanDerived(start, end)) {
    if (count++ === max) break;
    keys.push(key);
  }
  for (const key of keys) view.deleteDerived(key);
  return count > max;
}
