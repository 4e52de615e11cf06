// A thread of `scale` that writes some of its vectors to a separate file. It also finds the nearest ones to
// every query while the vectors are in memory.
import { parentPort, workerData } from 'node:worker_threads';
import { writeRows } from '../support/import-run.js';
import { randomOf } from '../support/seeded-random.js';
import type { VectorShape } from '../support/vector-data.js';
import { vectorOf } from './scale-data.js';

export interface VectorPart {
  path: string;
  from: number;
  to: number;
  shape: VectorShape;
  queries: number[][];
  k: number;
}

/** A vector by its number, and its cosine to a query. */
export type Near = [no: number, cosine: number];

function offer(nearest: Near[], k: number, no: number, cosine: number): void {
  if (nearest.length === k && cosine <= nearest[k - 1]![1]) return;
  const at = nearest.findIndex(([, other]) => other < cosine);
  nearest.splice(at < 0 ? nearest.length : at, 0, [no, cosine]);
  nearest.length = Math.min(k, nearest.length);
}

const { path, from, to, shape, queries, k } = workerData as VectorPart;
const { dimensions } = shape;
const draw = vectorOf(shape);
const random = randomOf(from + 1);
const asked = queries.map((query) => Float64Array.from(query));
const found = queries.map((): Near[] => []);

/** The lengths of queries change no order. */
function judge(no: number, values: readonly number[]): void {
  let square = 0;
  for (const x of values) square += x * x;
  const length = Math.sqrt(square);
  for (const [i, query] of asked.entries()) {
    let dot = 0;
    for (let d = 0; d < dimensions; d++) dot += query[d]! * values[d]!;
    offer(found[i]!, k, no, dot / length);
  }
}

function* rows(): Generator<object> {
  for (let no = from; no < to; no++) {
    const values = draw(random);
    judge(no, values);
    yield { vector: 'Point', values, properties: { no } };
  }
}

writeRows(path, rows());
parentPort!.postMessage(found);
