// Shortest paths against all simple paths of small random graphs: weight, then the earlier edges.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breadthFirst, cheapest, type PathGraph } from '../../engine/exec/search/path-search.js';
import type { FoundPath } from '../../engine/exec/search/bidirectional-bfs.js';

interface Edge {
  id: number;
  from: number;
  to: number;
  weight: number;
}

const nodes = 6;
const edgesOf = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: nodes }),
      fc.integer({ min: 1, max: nodes }),
      fc.integer({ min: 0, max: 3 }),
    ),
    { maxLength: 14 },
  )
  .map((list) => list.map(([from, to, weight], i): Edge => ({ id: i + 1, from, to, weight })));

function graphOf(edges: Edge[], estimate = (_id: number) => 0): PathGraph {
  return {
    out: (id) => Uint32Array.from(edges.filter((e) => e.from === id).flatMap((e) => [e.id, e.to])),
    weight: (id) => edges[id - 1]!.weight,
    estimate,
  };
}

/** Every simple path as its edges. */
function* paths(edges: Edge[], at: number, goal: number, met: number[] = [at]): Iterable<Edge[]> {
  if (at === goal) yield [];
  else
    for (const edge of edges.filter((e) => e.from === at && !met.includes(e.to)))
      for (const rest of paths(edges, edge.to, goal, [...met, edge.to])) yield [edge, ...rest];
}

function compareEdges(a: Edge[], b: Edge[]): number {
  for (let i = 0; i < a.length && i < b.length; i++)
    if (a[i]!.id !== b[i]!.id) return a[i]!.id - b[i]!.id;
  return a.length - b.length;
}

function best(edges: Edge[], start: number, goal: number, cost: (edge: Edge) => number) {
  const total = (path: Edge[]) => path.reduce((sum, edge) => sum + cost(edge), 0);
  const all = [...paths(edges, start, goal)];
  all.sort((a, b) => total(a) - total(b) || compareEdges(a, b));
  return all[0] && { edges: all[0].map((edge) => edge.id), weight: total(all[0]) };
}

const shown = (path: FoundPath | undefined) => path && { edges: path.edges, weight: path.weight };

describe('shortest paths', () => {
  it('finds the fewest edges, the earlier ones among equals', () => {
    fc.assert(
      fc.property(edgesOf, (edges) => {
        const found = breadthFirst(graphOf(edges), 1, 2);
        expect(shown(found)).toEqual(best(edges, 1, 2, () => 1));
      }),
      { numRuns: 500 },
    );
  });

  it('finds the same path from both ends at the same time', () => {
    fc.assert(
      fc.property(edgesOf, fc.boolean(), (edges, bothWays) => {
        const turned = edges.map(({ from, to, ...edge }) => ({ ...edge, from: to, to: from }));
        const all = bothWays ? [...edges, ...turned] : edges;
        const byAge = (list: Edge[]) => list.sort((a, b) => a.id - b.id);
        const ahead = graphOf(byAge([...all]));
        const { out: into } = graphOf(byAge(bothWays ? [...all] : turned));
        // The order of the ends has no effect.
        const endsOf = (out: PathGraph['out']) => (id: number) => {
          const ids = out(id)
            .filter((_, at) => at % 2 === 1)
            .reverse();
          return { ids, count: ids.length };
        };
        const oldest = (id: number, passes: (far: number) => boolean) => {
          const edge = byAge(all.filter((e) => e.from === id && passes(e.to)))[0]!;
          return { edge: edge.id, far: edge.to };
        };
        const ends = { oldest, ahead: endsOf(ahead.out), back: endsOf(into) };
        const found = breadthFirst({ ...ahead, ends }, 1, 2);
        expect(found).toEqual(breadthFirst(ahead, 1, 2));
        expect(shown(found)).toEqual(best(all, 1, 2, () => 1));
      }),
      { numRuns: 500 },
    );
  });

  it('finds the least weight, the earlier edges among equals', () => {
    fc.assert(
      fc.property(edgesOf, (edges) => {
        const found = cheapest(graphOf(edges), 1, 2);
        expect(shown(found)).toEqual(best(edges, 1, 2, (edge) => edge.weight));
      }),
      { numRuns: 500 },
    );
  });

  it('finds the same with any estimate that is never too high', () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
      minLength: nodes,
      maxLength: nodes,
    });
    fc.assert(
      fc.property(edgesOf, shares, (edges, share) => {
        const estimate = (id: number) =>
          Math.floor((best(edges, id, 2, (edge) => edge.weight)?.weight ?? 5) * share[id - 1]!);
        const found = cheapest(graphOf(edges, estimate), 1, 2);
        expect(shown(found)).toEqual(best(edges, 1, 2, (edge) => edge.weight));
      }),
      { numRuns: 500 },
    );
  });

  it('leads from node to node', () => {
    fc.assert(
      fc.property(edgesOf, (edges) => {
        for (const found of [breadthFirst(graphOf(edges), 1, 2), cheapest(graphOf(edges), 1, 2)]) {
          if (found === undefined) continue;
          const steps = found.edges.map((id) => edges[id - 1]!);
          expect(found.nodes).toEqual([1, ...steps.map((edge) => edge.to)]);
          expect(steps.map((edge) => edge.from)).toEqual(found.nodes.slice(0, -1));
        }
      }),
    );
  });
});
