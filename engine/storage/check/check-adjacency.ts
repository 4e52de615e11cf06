// Check I4: the adjacency lists of both directions match the edges. Every entry is compared with the record
// of its edge. Lists ascend, so equal totals then prove that no edge is missing. Also checks the chunk
// invariants of adjacency.ts.
import { readAdjacency, readDegree } from '../graph/adjacency.js';
import { type RecordSummary, type Report, everyEntry, peekSound } from './check-report.js';
import type { FullCatalog } from '../catalog/catalog.js';
import type { Env } from '../table/env.js';
import { fromOf, labelOf, toOf } from '../record/record.js';
import type { Direction } from '../table/view-types.js';
import { getWord } from '../table/little-endian.js';
import { oldestDeferredEdge } from '../view/deferred-adjacency.js';

export function checkAdjacency(
  env: Env,
  catalog: FullCatalog,
  census: RecordSummary,
  report: Report,
): void {
  const unique = new Set<number>();
  for (const { id, type } of catalog.allLabels()) {
    if (type.kind === 'edge' && type.unique) unique.add(id);
  }
  const isWhole = oldestDeferredEdge(env) === 0;
  for (const direction of ['out', 'in'] as const) {
    let entries = 0;
    let sealed = 0;
    for (const { key, value } of everyEntry.lists(env[direction], report)) {
      const location = `${direction} ${key.id}/${key.label}`;
      if (key.chunk === 0) {
        if (sealed > 0) report.add('I4', `${sealed} chunks are missing before ${location}`);
        sealed = getWord(value, 0);
        entries += checkAdjacencyList(env, direction, key, unique.has(key.label), report);
      } else if (sealed-- <= 0)
        report.add('I4', `chunk ${key.chunk} of ${location} belongs to no head`);
    }
    // A load with exclusive access lists its edges later.
    const isRight = isWhole ? entries === census.edges : entries <= census.edges;
    if (!isRight) {
      report.add('I4', `${entries} ${direction} entries for ${census.edges} edges`);
    }
  }
}

function checkAdjacencyList(
  env: Env,
  direction: Direction,
  { id, label }: { id: number; label: number },
  isUnique: boolean,
  report: Report,
): number {
  const location = `${direction} ${id}/${label}`;
  let pairs: Uint32Array;
  try {
    pairs = readAdjacency(env[direction], id, label);
  } catch (error) {
    report.add('I4', `${location} cannot be read: ${String(error)}`);
    return 0;
  }
  if (pairs.length === 0) report.add('I4', `${location} is empty`);
  if (readDegree(env[direction], id, label) * 2 !== pairs.length)
    report.add('I4', `${location}: degree`);
  const ends = new Set<number>();
  for (let i = 0; i < pairs.length; i += 2) {
    if (isUnique && ends.has(pairs[i + 1]!)) {
      report.add('I3', `edge ${pairs[i]} of a UNIQUE type is the second between its ends`);
    }
    if (isUnique) ends.add(pairs[i + 1]!);
    const [edge, far] = [pairs[i]!, pairs[i + 1]!];
    if (i > 0 && pairs[i - 2]! >= edge) report.add('I4', `${location} is not ascending at ${edge}`);
    const record = peekSound(env.records, edge);
    const [near, other] = direction === 'out' ? [fromOf, toOf] : [toOf, fromOf];
    const isRight =
      record && labelOf(record) === label && near(record) === id && other(record) === far;
    if (!isRight) report.add('I4', `${location} lists edge ${edge} to ${far}, which is not so`);
  }
  return pairs.length / 2;
}
