// A search: bring the query into the segment's space, walk or scan, answer.
import { answerResults, scanAllowed, scanSlots, writeAnswer } from './answer';
import { centre, encodeRanges } from './code';
import {
  H_LIFT_SQUARE, H_METRIC, H_SLOTS, H_STATE, L_ANSWERS, L_CENTRED, L_KEEP_ALL, L_LENGTH, L_NORM,
  L_ROTATED, METRIC_DOT, POOL_MAX, RESULT_MAX, STATE_SCAN,
} from './layout';
import { buildTable } from './scan';
import { prepare } from './segment';
import { buildBounds, scanSketches } from './sketch';
import { walk } from './walk';

/** Prepares the query at L_QUERY for everything below. */
export function beginQuery(lane: usize): void {
  prepare(lane);
  if (load<u32>(0, H_STATE) == STATE_SCAN) return;
  let factor: f32 = 1;
  if (load<u32>(0, H_METRIC) == METRIC_DOT) {
    // The order by inner product does not depend on the query's length; that of the data suits
    // the codes best.
    const norm = <f64>load<f32>(lane, L_NORM);
    factor = norm > 0 ? <f32>Math.sqrt(<f64>load<f32>(0, H_LIFT_SQUARE) / norm) : 0;
  }
  const centred = <usize>load<u32>(lane, L_CENTRED);
  store<f32>(lane, centre(load<u32>(lane, L_ROTATED), factor, 0, centred), L_LENGTH);
  encodeRanges(lane);
}

/** Results kept per answer wanted: re-scoring picks the best of them. */
function wanted(k: i32): i32 {
  return min(max(20, 2 * k), RESULT_MAX);
}

/**
 * The k best by the graph, walked as `walk` says. The filter, if any, is in the lane. Returns how
 * many.
 */
export function searchGraph(lane: usize, k: i32, ef: i32, follow: bool): i32 {
  buildTable(lane);
  store<u32>(lane, 0, L_KEEP_ALL);
  walk(lane, ef, wanted(k), follow);
  return answerResults(lane, k, true);
}

/** The k best of the allowed ids, each judged by its code. */
export function searchList(lane: usize, k: i32): i32 {
  scanAllowed(lane, wanted(k));
  return answerResults(lane, k, false);
}

/** The k best of the allowed ids: sketches rule most of them out, the rest is judged by codes. */
export function searchFlat(lane: usize, k: i32): i32 {
  buildBounds(lane);
  const want = min(wanted(k), POOL_MAX);
  let pool = min(max(256, 12 * k), POOL_MAX);
  while (!scanSketches(lane, pool, want) && pool < POOL_MAX) pool = min(pool * 4, POOL_MAX);
  return answerResults(lane, k, false);
}

/** The k best of all live, allowed slots, each judged exactly. */
export function searchExact(lane: usize, k: i32): i32 {
  store<i32>(lane, 0, L_ANSWERS);
  scanSlots(lane, 0, atomic.load<u32>(H_SLOTS), k);
  return writeAnswer(lane);
}
