// Access paths in the order of a property index: a range of values, and ORDER by the property.
import type { AccessPath } from '../../plan/expression.js';
import type { IndexBounds, Label, StoredProperty } from '../../storage/table/view-types.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { IdSet } from '../../base/id-set.js';
import { asRows, type Flow, type IdFlow } from '../runtime/flow.js';
import { Element } from '../runtime/value.js';
import { indexBounds } from './index-bounds.js';
import type { Evaluate } from '../runtime/compiled.js';
import { costModel } from './cost-model.js';
import type { IdLookup } from './id-lookup.js';

const { minRangeEntries, firstRangeEntries, firstScanElements, testsPerEntry } = costModel;

export interface IndexRange {
  label: Label;
  property: StoredProperty;
  path: Extract<AccessPath, { kind: 'between' | 'ordered' }>;
  low: Evaluate | undefined;
  high: Evaluate | undefined;
  /** Returns the number of rows that later steps read. Undefined when it is not known. */
  limit: ((frame: Frame) => number) | undefined;
  /**
   * Filters ids to those whose property lies between the bounds. Set when the path covers the whole
   * condition.
   */
  filter: ((ids: IdFlow) => Flow) | undefined;
}

/** Finds the elements whose property lies between bounds, oldest first. */
export function findBetween(range: IndexRange): IdLookup {
  const { label, property, limit: limitOf } = range;
  return (frame, counted) => {
    const bounds = indexBounds(frame, range);
    if (bounds === undefined) return undefined;
    if (bounds === 'nothing') return [];
    const walk = frame.view.range(property, bounds);
    if (counted) return walk;
    const further = walk[Symbol.iterator]();
    // Wrapped, so that a second loop continues where the first one stopped.
    const batches = { [Symbol.iterator]: () => further };
    const total = frame.view.count(label.id);
    const limit = limitOf?.(frame);
    // If m of n elements are in range, a scan finds k of them among k n / m. So the range is faster while m²
    // < k n.
    const budget = limit === undefined ? total / 2 : Math.sqrt(limit * total);
    const isEither = range.filter !== undefined && limit !== undefined;
    const alone = Math.max(
      minRangeEntries,
      isEither ? Math.min(firstRangeEntries, budget) : budget,
    );
    const found = new IdBuffer();
    for (const ids of batches) {
      frame.tick(ids.length);
      found.append(ids);
      if (found.length <= alone) continue;
      if (!isEither) return undefined;
      return [oldestOfEither(frame, range, { batches, found, limit, bounds, budget })];
    }
    frame.reserveMemory(4 * found.length);
    return [found.take().sort()];
  };
}

interface Walked {
  /** Further entries of the index between the bounds, after `found`. */
  batches: Iterable<Uint32Array>;
  found: IdBuffer;
  limit: number;
  bounds: IndexBounds;
  /** Up to this many entries, the index is probably the faster way. */
  budget: number;
}

/**
 * Returns the oldest `limit` elements of a long range. It advances the index range and a scan of the type in
 * turns, with equal time, until one of them ends.
 *
 */
function oldestOfEither(
  frame: Frame,
  { label, property, filter }: IndexRange,
  { batches, found, limit, bounds, budget }: Walked,
): Uint32Array {
  const room = Math.max(4 * limit, 4096);
  const cut = (): Uint32Array => found.take().sort().subarray(0, limit);
  const walk = batches[Symbol.iterator]();
  const scan = growing(frame.view.scan(label.id));
  const first = new IdBuffer();
  const total = frame.view.count(label.id);
  const scanMax = Math.ceil(4 * Math.sqrt(limit * total));
  let ahead = testsPerEntry * found.length;
  let [read, scanned, from, guessed] = [found.length, 0, 0, false];
  frame.reserveMemory(4 * room);
  try {
    for (;;) {
      const { value: ids, done } = scan.next();
      if (done) return first.take();
      for (const batch of asRows(filter!({ kind: 'ids', open: () => [ids] })).open(frame)) {
        for (const row of batch) if (row instanceof Element) first.push(row.id);
      }
      if (first.length >= limit) return first.take().subarray(0, limit);
      if (scanned === 0) from = ids[0]!;
      scanned += ids.length;
      ahead -= ids.length;
      if (ahead < 0 && read > budget && scanned < scanMax) continue;
      if (ahead < 0 && read > budget && !guessed) {
        guessed = true;
        const known = cut();
        found.append(known);
        // Ids between two elements are assumed to have the density of the scanned part.
        const density = scanned / (ids[ids.length - 1]! - from + 1);
        // If values decrease with age, the oldest elements are at the other end.
        const other = someOf(frame.view.range(property, bounds, true), limit);
        const oldest = Math.min(known.at(-1)!, other.at(-1)!);
        const begin = Math.min(density * (oldest - from), total);
        const entries = testsPerEntry * (total - begin);
        ahead = begin - scanned < entries ? begin - scanned + ids.length : -entries;
      }
      while (ahead < 0) {
        const { value: more, done: isAll } = walk.next();
        if (isAll) return cut();
        ahead += testsPerEntry * more.length;
        read += more.length;
        frame.tick(more.length);
        found.append(more);
        if (found.length > room) found.append(cut());
      }
    }
  } finally {
    scan.return(undefined);
  }
}

/** Yields ids in growing batches, because the first few rows may be among the first few elements. */
function* growing(batches: Iterable<Uint32Array>): Generator<Uint32Array, undefined> {
  let size = firstScanElements;
  for (const ids of batches) {
    for (let at = 0; at < ids.length; ) {
      const part = ids.subarray(at, at + size);
      at += size;
      size = Math.min(2 * size, 4096);
      yield part;
    }
  }
  return undefined;
}

/** Reads at least `max` ids, if there are as many, and returns the oldest `max` of them. */
function someOf(batches: Iterable<Uint32Array>, max: number): Uint32Array {
  const found = new IdBuffer();
  for (const ids of batches) {
    found.append(ids);
    if (found.length >= max) break;
  }
  return found.take().sort().subarray(0, max);
}

/** Finds elements in the order of an indexed property: equal ones oldest first, unset ones last. */
export function findInOrder(range: IndexRange): IdLookup {
  const within = (
    frame: Frame,
    walk: (bounds: IndexBounds) => Iterable<Uint32Array>,
  ): Iterable<Uint32Array> | undefined => {
    const bounds = indexBounds(frame, range);
    if (bounds === undefined) return undefined;
    return bounds === 'nothing' ? [] : walk(bounds);
  };
  const find: IdLookup = (frame) => within(frame, (bounds) => inOrder(frame, range, bounds));
  find.from = (frame, start, max) =>
    within(frame, (bounds) => inOrderFrom(frame, range, bounds, { start, max }));
  return find;
}

/**
 * Like `inOrder`, from a position on. Elements after the end of the index cost as much to read as all
 * elements.
 */
function* inOrderFrom(
  frame: Frame,
  range: IndexRange,
  bounds: IndexBounds,
  { start, max }: { start: number; max: number },
): Iterable<Uint32Array> {
  const { property, path, low, high, label } = range;
  const descending = path.kind === 'ordered' && path.descending;
  let found = 0;
  for (const ids of frame.view.range(property, bounds, descending, start)) {
    frame.tick(ids.length);
    found += ids.length;
    yield ids;
  }
  const isWhole = low === undefined && high === undefined;
  if (!isWhole || found >= max || start + found >= frame.view.count(label.id)) return;
  // Elements without a value come last: they are those that the index does not have.
  let passed = start + found;
  for (const ids of inOrder(frame, range, bounds)) {
    if (passed < ids.length) yield ids.subarray(passed);
    passed = Math.max(0, passed - ids.length);
  }
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
