// UNION, EXCEPT and INTERSECT of lists: each row once, as its first occurrence, in that order. Elements are
// equal by id, other rows by their typed key.
//
// Invariant: an expression that can fail always fails, in the order written. Everything else is read on
// demand.
import { IdSet } from '../../base/id-set.js';
import type { Source } from '../../plan/expression.js';
import { asRows, batchesOf, type Flow, type IdFlow, type RowFlow } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { keyOf } from '../runtime/key.js';
import { elementIds } from '../expression/membership.js';
import { collect } from '../runtime/collect.js';
import type { Evaluate } from '../runtime/compiled.js';
import { Element, type Value } from '../runtime/value.js';

type SetOperation = Extract<Source, { kind: 'set' }>['operation'];

/** `held`: lists that are values of variables. */
export function combined(
  operation: SetOperation,
  lists: readonly Flow[],
  canFail: readonly boolean[],
  held: readonly (Evaluate | undefined)[],
): Flow {
  const isEager = canFail.some((each, at) => each && at > 0);
  const isEarly = (at: number): boolean => isEager && canFail[at]!;
  if (lists.every((list) => list.kind === 'ids')) {
    const open = (frame: Frame): Iterable<Uint32Array> =>
      idsOf(
        frame,
        operation,
        lists.map((list, at) => (isEarly(at) ? readIds(frame, list) : list)),
      );
    return { kind: 'ids', open };
  }
  return {
    kind: 'rows',
    open(frame) {
      const [first] = lists;
      if (operation !== 'union' && !isEager && first?.kind === 'ids') {
        const sets = heldSets(frame, lists, held);
        const open = () => filteredIds(frame, operation, first, sets!);
        if (sets !== undefined) return asRows({ kind: 'ids', open }).open(frame);
      }
      const opened = lists.map((list, at): RowFlow => {
        if (!isEarly(at)) return asRows(list);
        const rows = collect(list, frame);
        return { kind: 'rows', open: () => batchesOf(rows) };
      });
      return operation === 'union' ? union(frame, opened) : filtered(frame, operation, opened);
    },
  };
}

/** Reads the ids of a list now. */
function readIds(frame: Frame, list: IdFlow): IdFlow {
  const read: Uint32Array[] = [];
  for (const ids of list.open(frame)) {
    frame.tick(ids.length);
    frame.reserveMemory(ids.byteLength);
    read.push(ids);
  }
  return { kind: 'ids', open: () => read };
}

function* idsOf(frame: Frame, operation: SetOperation, lists: readonly IdFlow[]) {
  const seen = new IdSet();
  if (operation === 'union') {
    for (const list of lists) {
      for (const ids of list.open(frame)) {
        frame.tick(ids.length);
        const passing = ids.filter((id) => seen.add(id));
        if (passing.length > 0) yield passing;
      }
    }
    return;
  }
  const [first, ...others] = lists;
  const sets = others.map((list) => idSetOf(frame, list));
  yield* filteredIds(frame, operation, first!, sets);
}

function* filteredIds(
  frame: Frame,
  operation: 'except' | 'intersect',
  first: IdFlow,
  sets: readonly IdSet[],
) {
  const seen = new IdSet();
  const wanted = operation === 'intersect';
  for (const ids of first.open(frame)) {
    frame.tick(ids.length);
    const passing = ids.filter((id) => sets.every((set) => set.has(id) === wanted) && seen.add(id));
    if (passing.length > 0) yield passing;
  }
}

/**
 * Returns the lists after the first as sets of ids. Sets of variables are shared by all steps that use them.
 */
function heldSets(
  frame: Frame,
  lists: readonly Flow[],
  held: readonly (Evaluate | undefined)[],
): IdSet[] | undefined {
  const sets: IdSet[] = [];
  for (let at = 1; at < lists.length; at++) {
    const value = held[at]?.(frame);
    const set = Array.isArray(value) ? elementIds(frame, value) : undefined;
    if (set === undefined) return undefined;
    sets.push(set);
  }
  return sets;
}

function idSetOf(frame: Frame, list: IdFlow): IdSet {
  const set = new IdSet();
  for (const ids of list.open(frame)) {
    frame.tick(ids.length);
    for (let i = 0; i < ids.length; i++) set.add(ids[i]!);
  }
  return set;
}

/** Rows met so far. */
class RowSet {
  readonly #ids = new IdSet();
  readonly #keys = new Set<string>();

  constructor(private readonly frame: Frame) {}

  /** Adds the row. Returns false when it was there already. */
  add(row: Value): boolean {
    if (row instanceof Element) return this.#ids.add(row.id);
    const key = keyOf(this.frame, row);
    if (this.#keys.has(key)) return false;
    this.frame.reserveMemory(rowBytes + 2 * key.length);
    this.#keys.add(key);
    return true;
  }

  has(row: Value): boolean {
    return row instanceof Element ? this.#ids.has(row.id) : this.#keys.has(keyOf(this.frame, row));
  }
}

function* union(frame: Frame, lists: readonly RowFlow[]): Iterable<readonly Value[]> {
  const seen = new RowSet(frame);
  for (const list of lists) {
    for (const batch of list.open(frame)) {
      frame.tick(batch.length);
      const passing = batch.filter((row) => seen.add(row));
      if (passing.length > 0) yield passing;
    }
  }
}

function* filtered(
  frame: Frame,
  operation: 'except' | 'intersect',
  [first, ...others]: readonly RowFlow[],
): Iterable<readonly Value[]> {
  const sets = others.map((list) => {
    const set = new RowSet(frame);
    for (const batch of list.open(frame)) {
      frame.tick(batch.length);
      for (const row of batch) set.add(row);
    }
    return set;
  });
  const seen = new RowSet(frame);
  const wanted = operation === 'intersect';
  for (const batch of first!.open(frame)) {
    frame.tick(batch.length);
    const passing = batch.filter(
      (row) => sets.every((set) => set.has(row) === wanted) && seen.add(row),
    );
    if (passing.length > 0) yield passing;
  }
}
