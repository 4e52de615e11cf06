// A search: bring the query into the segment's space, walk or scan, answer.
import { answerResults, scanAllowed, scanSlots, writeAnswer } from './answer';
import { encodeQuery } from './code';
import { H_METRIC, H_SLOTS, H_STATE, L_ANSWERS, L_KEEP_ALL, L_WEIGHT, METRIC_DOT, METRIC_L2, POOL_MAX, RESULT_MAX, STATE_SCAN } from './layout';
import { buildTable } from './kernel/scan';
import { prepare } from './segment';
import { buildBounds, scanSketches } from './sketch';
import { walk, walkFine } from './walk';

/** Prepares the query at L_QUERY for everything below. */
export function beginQuery(lane: usize): void {
  // The order by inner product does not depend on the query's length.
  const metric = load<u32>(0, H_METRIC);
  prepare(lane, metric != METRIC_L2);
  store<f32>(lane, metric == METRIC_DOT ? 0 : 1, L_WEIGHT);
  if (load<u32>(0, H_STATE) != STATE_SCAN) encodeQuery(lane);
}

/** Results kept per answer wanted: the best of them are found by judging them again. */
function wanted(k: i32): i32 {
  return min(max(32, 3 * k), RESULT_MAX);
}

/**
 * The k best by the graph, walked as `walk` says. The filter, if any, is in the lane. Returns how
 * many.
 */
export function searchGraph(lane: usize, k: i32, ef: i32, follow: bool): i32 {
  buildTable(lane);
  store<u32>(lane, 0, L_KEEP_ALL);
  const want = wanted(k);
  walk(lane, ef, want, follow);
  if (!answerResults(lane, k, true)) {
    walkFine(lane, ef, want);
    answerResults(lane, k, true);
  }
  return writeAnswer(lane);
}

/** The k best of the allowed ids, each judged by its code. */
export function searchList(lane: usize, k: i32): i32 {
  const want = wanted(k);
  scanAllowed(lane, want, false);
  if (!answerResults(lane, k, false)) {
    scanAllowed(lane, want, true);
    answerResults(lane, k, false);
  }
  return writeAnswer(lane);
}

/** The k best of the allowed ids: sketches rule most of them out, the rest is judged by codes. */
export function searchFlat(lane: usize, k: i32): i32 {
  buildBounds(lane);
  const want = min(wanted(k), POOL_MAX);
  let pool = min(max(256, 12 * k), POOL_MAX);
  while (!scanSketches(lane, pool, want) && pool < POOL_MAX) pool = min(pool * 4, POOL_MAX);
  return answerResults(lane, k, false) ? writeAnswer(lane) : searchList(lane, k);
}

/** The k best of all live, allowed slots, each judged exactly. */
export function searchExact(lane: usize, k: i32): i32 {
  store<i32>(lane, 0, L_ANSWERS);
  scanSlots(lane, 0, atomic.load<u32>(H_SLOTS), k);
  return writeAnswer(lane);
}
