// The steps of a search: encode the query, search the graph or scan, write the result.
import { hasManyDeleted, searchFiltered, refineFiltered } from './filtered-search';
import { answerResults, scanAllowed, scanSlots, writeAnswer } from './top-k';
import { centredOf, encodeQuery } from './scalar-quantizer';
import {
  H_SLOTS, METRIC_DOT, METRIC_L2, NODE_DELETED, NODE_FREE, NODE_LINKED, POOL_MAX, RESULT_MAX,
  STATE_SCAN,
} from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { distanceOf } from './kernel/sorted-keys';
import { buildTable } from './kernel/fastscan';
import { nodeAt } from './memory';
import { prepare } from './segment';
import { buildBounds, scanBlocks, scanSketches } from './sketch';
import { searchLayer, searchRefined } from './search-layer';
import { Node } from './kernel/node';

/** Prepares the query at L_QUERY for all functions below. */
export function beginQuery(scratch: usize): void {
  // The order by inner product does not depend on the query's length.
  const metric = Header.metric();
  prepare(scratch, metric != METRIC_L2);
  codeQuery(scratch);
}

/** Encodes the rotated query as the metric requires. */
export function codeQuery(scratch: usize): void {
  Scratch.setWeight(scratch, Header.metric() == METRIC_DOT ? 0 : 1);
  if (Header.state() != STATE_SCAN) encodeQuery(scratch);
}

/** Returns the number of results kept for k: the best of them are found by scoring them again. */
function wanted(k: i32): i32 {
  return min(max(32, 3 * k), RESULT_MAX);
}

/** Returned by a search whose width was too small. */
const TOO_NARROW: i32 = -1;

/**
 * Finds the k best by a graph search (search-layer.ts). Returns their number, or TOO_NARROW if deleted nodes
 * took too many entries.
 */
export function searchGraph(scratch: usize, k: i32, ef: i32, follow: bool): i32 {
  buildTable(scratch);
  Scratch.setKeepAll(scratch, 0);
  const want = wanted(k);
  searchLayer(scratch, ef, want, follow);
  if (hasManyDeleted(scratch)) return TOO_NARROW;
  if (!answerResults(scratch, k, true)) {
    searchRefined(scratch, ef, want);
    answerResults(scratch, k, true);
  }
  return writeAnswer(scratch);
}

/**
 * Finds the k best by a filtered graph search (filtered-search.ts): they are neither deleted nor refused by
 * the filter. Returns their number, or TOO_NARROW if more than `poolMax` entries would be needed.
 */
export function searchAllowed(
  scratch: usize, k: i32, ef: i32, minNodes: i32, poolMax: i32,
): i32 {
  buildTable(scratch);
  Scratch.setKeepAll(scratch, 0);
  const want = wanted(k);
  if (!searchFiltered(scratch, ef, minNodes, poolMax, want)) return TOO_NARROW;
  if (!answerResults(scratch, k, true)) {
    if (!refineFiltered(scratch, ef, minNodes, poolMax, want)) return TOO_NARROW;
    answerResults(scratch, k, true);
  }
  return writeAnswer(scratch);
}

/** Finds the k best of the allowed ids, each scored by its code. */
export function searchList(scratch: usize, k: i32): i32 {
  const want = wanted(k);
  scanAllowed(scratch, want, false);
  if (!answerResults(scratch, k, false)) {
    scanAllowed(scratch, want, true);
    answerResults(scratch, k, false);
  }
  return writeAnswer(scratch);
}

/** Finds the k best of the allowed ids: sketches rule most of them out, the others are scored by codes. */
export function searchFlat(scratch: usize, k: i32): i32 {
  buildBounds(scratch);
  const want = min(wanted(k), POOL_MAX);
  if (!scanSketches(scratch, min(max(256, 12 * k), POOL_MAX), want)) {
    // Very many bounds are alike: the scored vectors tell how near the others must be.
    const full = Scratch.resultCount(scratch) == want;
    scanBlocks(scratch, want, full ? farthestOf(scratch, want) : Infinity, true);
    if (Scratch.resultCount(scratch) < want) scanBlocks(scratch, want, Infinity, true);
  }
  return answerResults(scratch, k, false) ? writeAnswer(scratch) : searchList(scratch, k);
}

/** Finds the k best of all live, allowed slots, each scored exactly. */
export function searchExact(scratch: usize, k: i32): i32 {
  Scratch.setAnswers(scratch, 0);
  scanSlots(scratch, 0, atomic.load<u32>(H_SLOTS), k);
  return writeAnswer(scratch);
}

/** Width of the graph search before a scan, which finds an upper bound of the distance. */
const NARROW = 32;
/** Number of results above which such a graph search costs more than it saves. */
const NARROW_MAX = 96;

/**
 * Finds the k best of all vectors: sketches rule out vectors that cannot be among them, the others are scored
 * by codes.
 */
export function searchScan(scratch: usize, k: i32): i32 {
  Scratch.setKeepAll(scratch, 0);
  const want = min(k + 8 + (k >> 2), RESULT_MAX);
  const worst = farthestOfWalk(scratch, want);
  buildBounds(scratch);
  Scratch.setVisited(scratch, 0);
  scanBlocks(scratch, want, worst, false);
  // Too few results: many vectors are exactly as far as the last result of the graph search.
  if (Scratch.resultCount(scratch) < want) scanBlocks(scratch, want, Infinity, false);
  if (!answerResults(scratch, k, false)) {
    Scratch.setFine(scratch, 1);
    scanBlocks(scratch, want, Infinity, false);
    answerResults(scratch, k, false);
  }
  return writeAnswer(scratch);
}

/** Returns a distance by codes below which there are `want` vectors; infinity if none is known. */
function farthestOfWalk(scratch: usize, want: i32): f32 {
  Scratch.setFine(scratch, 0);
  if (want > NARROW_MAX) return Infinity;
  buildTable(scratch);
  searchLayer(scratch, max(NARROW, want), want, false);
  if (Scratch.resultCount(scratch) < want) return Infinity;
  return farthestOf(scratch, want);
}

/** Returns slightly more than the distance of the last of `want` results. */
function farthestOf(scratch: usize, want: i32): f32 {
  const results = Scratch.result(scratch);
  const worst = distanceOf(load<u64>(results + ((<usize>(want - 1)) << 3)));
  return worst + <f32>1e-6 * abs(worst);
}

/** Begins a query that is made of stored vectors, instead of the vector at L_QUERY. */
export function clearQuery(scratch: usize): void {
  memory.fill(Scratch.rotated(scratch), 0, Header.padded() << 2);
  Scratch.setNorm(scratch, 1);
}

/**
 * Adds `part` times the direction of a slot's vector to the query (l2: of the vector itself). Returns false
 * if the vector is deleted or zero.
 */
export function addToQuery(scratch: usize, slot: u32, part: f32): bool {
  const node = nodeAt(slot);
  const norm = Node.norm(node);
  const flags = Node.flags(node);
  if ((flags & (NODE_LINKED | NODE_DELETED | NODE_FREE)) != NODE_LINKED || norm == 0) return false;
  const rotated = Scratch.rotated(scratch);
  const centred = Scratch.centred(scratch);
  const mean = Header.mean();
  const bytes = Header.padded() << 2;
  const share = f32x4.splat(Header.metric() == METRIC_L2 ? part : part / norm);
  centredOf(node, centred);
  for (let at: usize = 0; at < bytes; at += 16) {
    const vector = f32x4.add(v128.load(centred + at), v128.load(mean + at));
    v128.store(rotated + at, f32x4.add(v128.load(rotated + at), f32x4.mul(share, vector)));
  }
  return true;
}
