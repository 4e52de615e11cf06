// A piece of the graph: some elements with the edges among them, and the shortest way between two.
// Invariant: an element with a very long list of edges is not read through; its edges are found from
// their other ends.
import type { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import type { Sight } from '../../plan/plan.js';
import { type Frame, rowBytes } from '../row/frame.js';
import { touching } from '../row/edge-list.js';
import { breadthFirst } from '../search/path-search.js';
import { existing, labelsOf, printElements } from './sight-page.js';

/** Longer lists of one element are left to the other ends of their edges. */
const longList = 2_000;
const edgesMax = 20_000;

/** Edges both of whose ends are in `ids`, each once. */
function edgesAmong(frame: Frame, ids: ReadonlySet<number>): number[] {
  const edges = new Set<number>();
  const labels = labelsOf(frame, 'edge');
  for (const id of ids) {
    frame.tick(2 * labels.length);
    for (const label of labels) {
      for (const direction of ['out', 'in'] as const) {
        const degree = frame.view.degree(id, label.id, direction);
        if (degree === 0 || degree > longList) continue;
        const pairs = frame.view.adjacency(id, label.id, direction);
        frame.tick(pairs.length / 2);
        for (let i = 0; i < pairs.length; i += 2) {
          if (ids.has(pairs[i + 1]!)) edges.add(pairs[i]!);
        }
        if (edges.size >= edgesMax) return [...edges].slice(0, edgesMax);
      }
    }
  }
  return [...edges].sort((a, b) => a - b);
}

/** `{nodes, edges}`: what there is of the ids, in their order. */
export function printAmong(
  frame: Frame,
  out: ByteWriter,
  { ids, count }: Extract<Sight, { kind: 'among' }>,
): void {
  const known = ids === null ? someOfAll(frame, count) : ids.map((uuid) => frame.view.idOf(uuid));
  const nodes = new Set(known.filter((id) => id !== 0));
  frame.tick(known.length);
  printGraph(frame, out, [...nodes], edgesAmong(frame, nodes));
}

function printGraph(frame: Frame, out: ByteWriter, nodes: number[], edges: number[]): void {
  out.ascii('{"nodes":');
  printElements(frame, out, nodes);
  out.ascii(',"edges":');
  printElements(frame, out, edges);
  out.byte(125);
}

/** The oldest of every type: small types whole, the others share what is left. */
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

/** The graph of one shortest path. Fails NO_PATH. */
export function printPath(
  frame: Frame,
  out: ByteWriter,
  { from, to }: Extract<Sight, { kind: 'path' }>,
): void {
  const labels = labelsOf(frame, 'edge').map(({ id }) => id);
  const read = (id: number): Uint32Array => {
    const pairs = touching(frame, id, labels, 'both');
    frame.tick(1 + (pairs.length >> 1));
    frame.charge((pairs.length >> 1) * rowBytes);
    return pairs;
  };
  const graph = { out: read, into: read, weight: () => 1, estimate: () => 0 };
  const found = breadthFirst(graph, existing(frame, from), existing(frame, to));
  if (found === undefined) fail('NO_PATH', { from: printUuid(from), to: printUuid(to) });
  printGraph(frame, out, found.nodes, found.edges);
}
