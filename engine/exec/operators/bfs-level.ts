// Breadth-first search: decides which edges of an element may be followed, and computes the next level.
import { fail } from '../../base/errors.js';
import type { IdSet } from '../../base/id-set.js';
import type { Direction } from '../../plan/expression.js';
import { kindOf } from '../../storage/record/record.js';
import type { Evaluate } from '../runtime/compiled.js';
import { incidentEdges } from '../runtime/edge-list.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { readNumber } from '../runtime/step-argument.js';
import { Element } from '../runtime/value.js';

export interface Walk {
  labels: readonly number[];
  direction: Direction | 'both';
  condition: { slot: number; value: Evaluate } | undefined;
}

export interface Bounds {
  min: number;
  /** Undefined: no limit. */
  max: Evaluate | undefined;
}

const hopsMax = 2 ** 32 - 1;
/** Number of edges between two checks of the limits. */
const edgesPerTick = 1024;
/** Bytes of memory per element met, in the visited set and in the level. */
const metBytes = 8;

/** Returns true if an edge may be followed from an element. */
export function follows(frame: Frame, walk: Walk, edge: number, from: number): boolean {
  const { condition } = walk;
  if (condition === undefined) return true;
  frame.slots[condition.slot] = edgeFrom(walk, edge, from);
  return condition.value(frame) === true;
}

/** Returns the edge as a row. `origin` is set only for walks in both directions, where `Other` needs it. */
export function edgeFrom({ direction }: Walk, edge: number, from: number): Element {
  const element = new Element(edge);
  if (direction === 'both') element.origin = from;
  return element;
}

export function readMax(frame: Frame, { max }: Bounds): number {
  if (max === undefined) return Number.POSITIVE_INFINITY;
  const value = max(frame);
  if (value === null)
    fail('PARAM_MISSING', { owner: 'A repetition', param: 'bound', type: 'an integer' });
  return readNumber('bound', value, 0, hopsMax, false);
}

/** Returns true if an id belongs to an existing node or vector. */
export function isEnd(frame: Frame, id: number): boolean {
  const record = frame.peekRecord(id);
  return record !== undefined && kindOf(record) !== 'edge';
}

export function nextLevel(frame: Frame, walk: Walk, met: IdSet, level: Uint32Array): Uint32Array {
  const next = new IdBuffer();
  for (let i = 0; i < level.length; i++) {
    const from = level[i]!;
    frame.tick(1);
    if (walk.condition !== undefined) {
      const pairs = incidentEdges(frame, from, walk.labels, walk.direction);
      for (let at = 0; at < pairs.length; at += 2) {
        frame.tick(1);
        if (!follows(frame, walk, pairs[at]!, from)) continue;
        if (met.add(pairs[at + 1]!)) next.push(pairs[at + 1]!);
      }
      continue;
    }
    // Without a condition, the order of the edges has no effect.
    for (let k = 0; k < walk.labels.length; k++) {
      if (walk.direction !== 'in') spread(frame, from, walk.labels[k]!, 'out', met, next);
      if (walk.direction !== 'out') spread(frame, from, walk.labels[k]!, 'in', met, next);
    }
  }
  frame.reserveMemory(next.length * metBytes);
  return next.take();
}

function spread(
  frame: Frame,
  from: number,
  label: number,
  direction: Direction,
  met: IdSet,
  next: IdBuffer,
): void {
  const lists = frame.edges()?.of(label, direction);
  const word = lists?.find(from) ?? 0;
  const words = word === 0 ? frame.view.adjacency(from, label, direction) : lists!.words;
  const first = word === 0 ? 0 : word + 1;
  const last = word === 0 ? words.length : first + words[word]!;
  for (let begin = first; begin < last; begin += 2 * edgesPerTick) {
    const end = Math.min(last, begin + 2 * edgesPerTick);
    for (let at = begin + 1; at < end; at += 2) if (met.add(words[at]!)) next.push(words[at]!);
    frame.tick((end - begin) >> 1);
  }
}
