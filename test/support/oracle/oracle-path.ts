// Shortest paths of the oracle (helixql.md 3.18): all simple paths are walked, the best one wins.
import { fail } from '../../../engine/base/errors.js';
import type { Step } from '../../../engine/plan/expression.js';
import { type OracleElement, Item, isNumber, Rec, type Value } from './oracle-value.js';
import { edgesFrom, farEnd, reachedFrom } from './oracle-walk.js';
import { memberOf, perItem, resolve, type Run, Undetermined } from './oracle-run.js';

type PathStep = Extract<Step, { kind: 'shortestPath' }>;

interface Path {
  nodes: readonly OracleElement[];
  edges: readonly OracleElement[];
  weight: number;
}

/** Weights of an edge by the end that it is walked from. */
type Weights = Map<OracleElement, Map<OracleElement, number>>;

const along = (step: PathStep) => ({
  direction: step.both ? ('both' as const) : ('out' as const),
  edges: step.edges,
  ...(step.condition && { condition: step.condition }),
});

/** Paths walked before a graph counts as too dense for this. */
const pathsMax = 20_000;

export function shortestPath(run: Run, step: PathStep, rows: readonly Value[]): Rec[] {
  if (rows.length === 0) return [];
  const target = resolve(run, run.value(step.target), 'the target');
  return rows.flatMap((row) => {
    const here = resolve(run, row, 'the start');
    const [start, goal] = step.reverse ? [target, here] : [here, target];
    const path = best(run, step, start!, goal!);
    if (path) return [recordOf(path)];
    return step.one ? fail('NO_PATH', { from: start!.uuid, to: goal!.uuid }) : [];
  });
}

function recordOf({ nodes, edges, weight }: Path): Rec {
  return new Rec([
    ['path', nodes.map((node) => new Item(node))],
    ['edges', edges.map((edge) => new Item(edge))],
    ['total_weight', weight],
    ['hop_count', edges.length],
  ]);
}

/** Less weight first; among equal ones that through the earlier edges, compared from the start. */
function isBetter(a: Path, b: Path): boolean {
  if (a.weight !== b.weight) return a.weight < b.weight;
  const at = a.edges.findIndex((edge, i) => edge !== b.edges[i]);
  return at >= 0 && b.edges[at] !== undefined && a.edges[at]!.id < b.edges[at]!.id;
}

function best(run: Run, step: PathStep, start: OracleElement, goal: OracleElement) {
  const weights = weightsOf(run, step, start);
  let found: Path | undefined;
  let walked = 0;
  const walk = (path: Path): void => {
    if (++walked > pathsMax) throw new Undetermined('too many paths');
    const at = path.nodes.at(-1)!;
    if (at === goal) {
      if (found === undefined || isBetter(path, found)) found = path;
      return;
    }
    for (const edge of edgesFrom(run, along(step), at)) {
      const far = farEnd(edge, at);
      if (path.nodes.includes(far)) continue;
      const weight = path.weight + (weights.get(edge)?.get(at) ?? 1);
      walk({ nodes: [...path.nodes, far], edges: [...path.edges, edge], weight });
    }
  };
  walk({ nodes: [start], edges: [], weight: 0 });
  if (step.algorithm !== 'bfs') judge(run, step, weights, found);
  return found;
}

/** The edges that can be reached from the start, with their weights; null where there is none. */
function weightsOf(run: Run, step: PathStep, start: OracleElement) {
  const weights: Weights = new Map();
  const { weight } = step;
  if (step.algorithm === 'bfs' || weight === undefined) return weights;
  const reached = [start];
  for (const node of reached) {
    for (const edge of edgesFrom(run, along(step), node)) {
      const value = perItem(run, weight, reachedFrom(edge, node));
      const ways = weights.get(edge) ?? new Map<OracleElement, number>();
      weights.set(edge, ways.set(node, isNumber(value) ? Number(value) : Number.NaN));
      const far = farEnd(edge, node);
      if (!reached.includes(far)) reached.push(far);
    }
  }
  return weights;
}

/** A bad weight is an error where it is met, which a search that ends early need not do. */
function judge(run: Run, { heuristic }: PathStep, weights: Weights, found: Path | undefined): void {
  const all = [...weights.values()].flatMap((ways) => [...ways.values()]);
  const isBad = all.some((weight) => !(weight >= 0 && weight < Infinity));
  if (isBad && found === undefined) fail('ARITHMETIC', { operation: 'path', what: 'a weight' });
  if (isBad && found!.edges.length > 0) throw new Undetermined('a bad weight beside the path');
  if (heuristic === undefined || found === undefined) return;
  const estimates = found.nodes.map((node) => memberOf(run, new Item(node), heuristic));
  if (estimates.some((value) => value !== null && Number(value) > 0))
    throw new Undetermined('an estimate that may be too high');
}
