// Access paths along the order of a property index: a range of values, and ORDER by the property.
import type { AccessPath } from '../../plan/expression.js';
import type { IndexBounds, Label, StoredProperty } from '../../storage/table/store.js';
import type { Frame } from '../row/frame.js';
import { IdBuffer } from '../row/id-buffer.js';
import { IdSet } from '../../base/id-set.js';
import { asRows, type Flow, type IdFlow } from '../row/flow.js';
import { Element } from '../row/value.js';
import { indexBounds } from './index-bounds.js';
import type { Evaluate } from '../row/compiled.js';
import type { Find } from './access.js';

/** Entries of an index that may be read before reading the type would have been better. */
const smallRange = 64;

export interface IndexRange {
  label: Label;
  property: StoredProperty;
  path: Extract<AccessPath, { kind: 'between' | 'ordered' }>;
  low: Evaluate | undefined;
  high: Evaluate | undefined;
  /** The number of rows that the steps behind it read, if that is known. */
  most: ((frame: Frame) => number) | undefined;
  /** Those of some ids whose property lies between the bounds, where the path decides all. */
  among: ((ids: IdFlow) => Flow) | undefined;
}

/** Elements whose property lies between bounds, oldest first. */
export function findBetween(range: IndexRange): Find {
  const { label, property, most } = range;
  return (frame, counted) => {
    const bounds = indexBounds(frame, range);
    if (bounds === undefined) return undefined;
    if (bounds === 'nothing') return [];
    const walk = frame.view.range(property, bounds);
    if (counted) return walk;
    const further = walk[Symbol.iterator]();
    // Whoever goes on after a look goes on behind it.
    const batches = { [Symbol.iterator]: () => further };
    const total = frame.view.count(label.id);
    const limit = most?.(frame);
    // With m of n elements in range, a scan finds k of them among k n / m: the range is the better
    // way up to m² = k n.
    const worth = limit === undefined ? total / 2 : Math.sqrt(limit * total);
    const found = new IdBuffer();
    for (const ids of batches) {
      frame.tick(ids.length);
      found.append(ids);
      if (found.length <= smallRange || found.length <= worth) continue;
      if (range.among === undefined || limit === undefined) return undefined;
      return [oldestAmong(frame, range, limit) ?? oldestOf(frame, batches, found, limit)];
    }
    frame.charge(4 * found.length);
    return [found.take().sort()];
  };
}

/**
 * The oldest `limit`, if that many are among the first elements of the type: where the property has
 * nothing to do with age, four times as many as needed on average.
 */
function oldestAmong(
  frame: Frame,
  { label, among }: IndexRange,
  limit: number,
): Uint32Array | undefined {
  const least = Math.ceil(4 * Math.sqrt(limit * frame.view.count(label.id)));
  const found = new IdBuffer();
  let looked = 0;
  for (const ids of frame.view.scan(label.id)) {
    looked += ids.length;
    for (const batch of asRows(among!({ kind: 'ids', open: () => [ids] })).open(frame)) {
      for (const row of batch) if (row instanceof Element) found.push(row.id);
    }
    if (found.length >= limit) return found.take().subarray(0, limit);
    if (looked > least) return undefined;
  }
  return found.take();
}

/** The oldest `limit` of all that the index has between the bounds: `found`, and `batches` behind it. */
function oldestOf(
  frame: Frame,
  batches: Iterable<Uint32Array>,
  found: IdBuffer,
  limit: number,
): Uint32Array {
  const room = Math.max(4 * limit, 4096);
  const kept = found;
  const cut = (): Uint32Array => kept.take().sort().subarray(0, limit);
  for (const ids of batches) {
    frame.tick(ids.length);
    kept.append(ids);
    if (kept.length > room) kept.append(cut());
  }
  frame.charge(4 * room);
  return cut();
}

/** Elements in the order of an indexed property, equal ones oldest first, unset ones last. */
export function findInOrder(range: IndexRange): Find {
  return (frame) => {
    const bounds = indexBounds(frame, range);
    if (bounds === undefined) return undefined;
    return bounds === 'nothing' ? [] : inOrder(frame, range, bounds);
  };
}

function* inOrder(
  frame: Frame,
  { label, property, path, low, high }: IndexRange,
  bounds: IndexBounds,
): Iterable<Uint32Array> {
  const descending = path.kind === 'ordered' && path.descending;
  const seen = new IdSet();
  const isWhole = low === undefined && high === undefined;
  for (const ids of frame.view.range(property, bounds, descending)) {
    frame.tick(ids.length);
    if (isWhole) for (let i = 0; i < ids.length; i++) seen.add(ids[i]!);
    yield ids;
  }
  if (!isWhole || seen.size === frame.view.count(label.id)) return;
  for (const ids of frame.view.scan(label.id)) {
    frame.tick(ids.length);
    yield ids.filter((id) => !seen.has(id));
  }
}
