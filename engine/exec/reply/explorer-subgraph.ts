// Prints a part of the graph: some elements with the edges between them, or the shortest path between two
// elements.
// Invariant: a very long edge list is not read completely if its edges can be found from their other ends.
// Only edges between two such lists need it.
import type { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import type { Direction } from '../../plan/expression.js';
import type { ExplorerRequest } from '../../plan/plan.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { incidentEdges } from '../runtime/edge-list.js';
import { breadthFirst } from '../search/path-search.js';
import { existing, labelsOf, printElements } from './explorer-elements.js';

/** Longer edge lists are not read; their edges are found from the other ends. */
const longList = 2_000;
const edgesMax = 20_000;

/** Number of edges of a long list to read at a time. */
const window = 4_096;

const directions = ['out', 'in'] as const;

interface LongList {
  id: number;
  degree: number;
}

/** Returns the edges whose two endpoints are in `ids`, each once. */
function edgesWithin(frame: Frame, ids: ReadonlySet<number>): number[] {
  const edges = new Set<number>();
  const take = (pairs: Uint32Array): void => {
    frame.tick(pairs.length / 2);
    for (let i = 0; i < pairs.length; i += 2) if (ids.has(pairs[i + 1]!)) edges.add(pairs[i]!);
  };
  for (const label of labelsOf(frame, 'edge')) {
    const long: Record<Direction, LongList[]> = { out: [], in: [] };
    frame.tick(2 * ids.size);
    for (const id of ids) {
      for (const direction of directions) {
        const degree = frame.view.degree(id, label.id, direction);
        if (degree > longList) long[direction].push({ id, degree });
        else if (degree > 0) take(frame.view.adjacency(id, label.id, direction));
      }
      if (edges.size >= edgesMax) return firstOf(edges);
    }
    for (const pairs of betweenLong(frame, label.id, long)) {
      take(pairs);
      if (edges.size >= edgesMax) return firstOf(edges);
    }
  }
  return firstOf(edges);
}

const firstOf = (edges: ReadonlySet<number>): number[] =>
  [...edges].slice(0, edgesMax).sort((a, b) => a - b);

/**
 * Edges between two long lists are in no short list. For them, the lists of the side with fewer edges in
 * total are read, in chunks. If only one side has long lists, none is read.
 */
function* betweenLong(
  frame: Frame,
  label: number,
  long: Record<Direction, LongList[]>,
): Generator<Uint32Array> {
  if (long.out.length === 0 || long.in.length === 0) return;
  const total = (lists: LongList[]): number => lists.reduce((sum, { degree }) => sum + degree, 0);
  const direction = total(long.out) <= total(long.in) ? 'out' : 'in';
  for (const { id } of long[direction]) {
    let after = 0;
    for (;;) {
      const pairs = frame.view.adjacencyAfter(id, label, direction, { after, max: window });
      yield pairs;
      if (pairs.length < 2 * window) break;
      after = pairs.at(-2)!;
    }
  }
}

/** Prints `{nodes, edges}` for those of the ids that exist, in their order. */
export function printSubgraph(
  frame: Frame,
  out: ByteWriter,
  { ids, count }: Extract<ExplorerRequest, { kind: 'subgraph' }>,
): void {
  const known = ids === null ? someOfAll(frame, count) : ids.map((uuid) => frame.view.idOf(uuid));
  const nodes = new Set(known.filter((id) => id !== 0));
  frame.tick(known.length);
  printGraph(frame, out, [...nodes], edgesWithin(frame, nodes));
}

function printGraph(frame: Frame, out: ByteWriter, nodes: number[], edges: number[]): void {
  out.ascii('{"nodes":');
  printElements(frame, out, nodes);
  out.ascii(',"edges":');
  printElements(frame, out, edges);
  out.byte(125);
}

/** Returns the oldest elements of every type: small types completely, the others share the rest. */
function someOfAll(frame: Frame, count: number): number[] {
  const labels = labelsOf(frame, 'node', 'vector')
    .map((label) => ({ label, size: frame.view.count(label.id) }))
    .filter(({ size }) => size > 0)
    .sort((a, b) => a.size - b.size);
  let left = count;
  return labels.flatMap(({ label }, at) => {
    const share = Math.ceil(left / (labels.length - at));
    const ids: number[] = [];
    for (const batch of frame.view.scan(label.id)) {
      for (const id of batch.subarray(0, share - ids.length)) ids.push(id);
      if (ids.length >= share) break;
    }
    frame.tick(ids.length);
    left -= ids.length;
    return ids;
  });
}

/** Prints the graph of one shortest path. Fails NO_PATH. */
export function printPath(
  frame: Frame,
  out: ByteWriter,
  { from, to }: Extract<ExplorerRequest, { kind: 'path' }>,
): void {
  const labels = labelsOf(frame, 'edge').map(({ id }) => id);
  const read = (id: number): Uint32Array => {
    const pairs = incidentEdges(frame, id, labels, 'both');
    frame.tick(1 + (pairs.length >> 1));
    frame.reserveMemory((pairs.length >> 1) * rowBytes);
    return pairs;
  };
  const graph = { out: read, into: read, weight: () => 1, estimate: () => 0 };
  const found = breadthFirst(graph, existing(frame, from), existing(frame, to));
  if (found === undefined) fail('NO_PATH', { from: printUuid(from), to: printUuid(to) });
  printGraph(frame, out, found.nodes, found.edges);
}
