// Fuses ranked lists by reciprocal rank (Cormack, Clarke, Büttcher, SIGIR 2009): an element at rank r of a
// list with weight w gets w / (k + r) from it. Only ranks count, so that scores of different searches need no
// common scale.
import { fail } from '../../base/errors.js';
import { IdSet } from '../../base/id-set.js';
import { checkFloat } from '../expression/math.js';
import { asRows, type Flow, type RowFlow } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { readNumber } from '../runtime/step-argument.js';
import { Element, isListValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';
import { firstParents, type ToParents } from './best-per-parent.js';
import { rankConstant, withScores } from './rerank.js';

export interface Fusion {
  lists: readonly Flow[];
  constant: Evaluate | undefined;
  weights: Evaluate | undefined;
  /** Numbers of filters that several of the searches share. */
  shared: readonly number[];
  /** Groups the fused hits by their parents. */
  by: ToParents | undefined;
}

/** State of an element that is in some of the lists. */
interface Entry {
  first: Element;
  score: number;
  /** Distance from the first list that has one. */
  distance: number;
  /** Best hit from the first list that has one. */
  found: Element | undefined;
}

export function fuse(fusion: Fusion): RowFlow {
  return { kind: 'rows', open: (frame) => fuseRows(frame, fusion) };
}

function* fuseRows(
  frame: Frame,
  { lists, constant, weights, shared, by }: Fusion,
): Iterable<readonly Value[]> {
  const k = constant ? readPart(frame, constant(frame), 'k') : rankConstant;
  const parts = readWeights(frame, weights, lists.length);
  const entries = new Map<number, Entry>();
  // Results of the filters for an earlier item of a list are no longer valid.
  for (const each of shared) frame.allowed?.delete(each);
  for (const [i, list] of lists.entries()) gather(frame, entries, list, k, parts[i]!);
  // Relative to the greatest weight, because the sum of all weights may be infinite.
  const greatest = Math.max(...parts);
  const max = parts.reduce((sum, weight) => sum + weight / greatest / (k + 1), 0);
  const hits = [...entries.values()];
  frame.tick(hits.length);
  hits.sort((a, b) => b.score - a.score || a.first.id - b.first.id);
  if (hits.length === 0) return;
  const fused = hits.map((entry) => hitOf(frame, entry, { greatest, max }));
  yield by === undefined ? fused : firstParents(frame, by, fused, Number.POSITIVE_INFINITY);
}

function hitOf(
  frame: Frame,
  { first, score, distance, found }: Entry,
  { greatest, max }: { greatest: number; max: number },
): Element {
  const element = withScores(frame, first, checkFloat('RerankRRF', score));
  const share = score / greatest / max;
  element.hit = { ...element.hit, distance, share, ...(found && { found }) };
  return element;
}

/** Adds the scores of one list to its elements. A list with weight 0 is read too, because it may fail. */
function gather(
  frame: Frame,
  entries: Map<number, Entry>,
  list: Flow,
  k: number,
  weight: number,
): void {
  const seen = new IdSet();
  for (const batch of asRows(list).open(frame)) {
    frame.tick(batch.length);
    for (const row of batch) {
      if (!(row instanceof Element) || !seen.add(row.id) || weight === 0) continue;
      const part = weight / (k + seen.size);
      const entry = entries.get(row.id);
      if (entry === undefined) {
        frame.reserveMemory(2 * rowBytes);
        const { distance, found } = row.hit;
        entries.set(row.id, { first: row, score: part, distance, found });
        continue;
      }
      entry.score += part;
      if (Number.isNaN(entry.distance)) entry.distance = row.hit.distance;
      entry.found ??= row.hit.found;
    }
  }
}

function readPart(frame: Frame, value: ReturnType<Evaluate>, param: string): number {
  frame.tick(1);
  if (value === null) fail('PARAM_MISSING', { owner: 'RerankRRF', param, type: 'F64' });
  return readNumber(param, value, 0, Number.MAX_VALUE, false);
}

function readWeights(frame: Frame, weights: Evaluate | undefined, count: number): number[] {
  if (weights === undefined) return new Array<number>(count).fill(1);
  const value = weights(frame);
  if (value === null) {
    fail('PARAM_MISSING', { owner: 'RerankRRF', param: 'weights', type: '[F64]' });
  }
  const inputs = isListValue(value) ? Array.from(value) : [value];
  if (inputs.length !== count) {
    const allowed = `${count} numbers, one per list`;
    fail('PARAM_VALUE', { param: 'weights', allowed, got: String(inputs.length) });
  }
  return inputs.map((weight) => readPart(frame, weight, 'weights'));
}
