// Keyboard control of the canvas. Arrow keys move from the selected element to the nearest in their
// direction, and E moves through its edges. Enter loads its neighbors, Delete hides, Ctrl Z undoes.
import { expand, type CanvasContext } from './canvas-context.js';

const directions: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Returns whether the canvas handled the key. */
export function onCanvasKey(context: CanvasContext, event: KeyboardEvent): boolean {
  const { model, renderer } = context;
  const isOnCanvas = event.target === renderer.host;
  const direction = isOnCanvas ? directions[event.key] : undefined;
  const [first] = model.chosen;
  if (direction !== undefined) {
    const next = nearestTowards(context, first, direction);
    if (next === undefined) return true;
    if (!event.shiftKey) model.chosen.clear();
    model.chosen.add(next);
  } else if (event.key === 'e' && isOnCanvas && first !== undefined) {
    const edge = edgeAfter(context, first);
    if (edge === undefined) return true;
    model.chosen.clear();
    model.chosen.add(edge);
  } else if (event.key === 'Enter' && isOnCanvas && first !== undefined) {
    void expand(context, first, {});
    return true;
  } else if (event.key === 'Delete' || event.key === 'Backspace') model.hide(model.chosen);
  else if (event.key === 'z' && (event.metaKey || event.ctrlKey)) model.undo();
  else if (event.key === 'Escape') model.chosen.clear();
  else return false;
  context.changed();
  return true;
}

/**
 * Returns the first edge of an element. After an edge, returns the next edge that shares an endpoint with
 * it, in a cycle.
 */
function edgeAfter({ model }: CanvasContext, chosen: string): string | undefined {
  const edges = [...model.edges.values()];
  const at = model.edges.get(chosen);
  const ends = at === undefined ? [chosen] : [at.from_node, at.to_node];
  const near = edges.filter(
    ({ from_node, to_node }) => ends.includes(from_node!) || ends.includes(to_node!),
  );
  return near[(near.findIndex(({ id }) => id === chosen) + 1) % near.length]?.id;
}

/**
 * Distance across the direction counts double, so that the selection moves in the direction of the arrow.
 */
const sideways = 2;

function nearestTowards(
  { renderer }: CanvasContext,
  from: string | undefined,
  [dx, dy]: [number, number],
): string | undefined {
  const { graph, sigma, host } = renderer;
  const positionOf = (id: string): { x: number; y: number } =>
    sigma.graphToViewport(graph.getNodeAttributes(id) as { x: number; y: number });
  const isThere = from !== undefined && graph.hasNode(from);
  const start = isThere ? positionOf(from) : { x: host.clientWidth / 2, y: host.clientHeight / 2 };
  let best: string | undefined;
  let nearest = Number.POSITIVE_INFINITY;
  for (const id of graph.nodes()) {
    if (id === from) continue;
    const { x, y } = positionOf(id);
    const along = (x - start.x) * dx + (y - start.y) * dy;
    const across = Math.abs((x - start.x) * dy) + Math.abs((y - start.y) * dx);
    // Without a selection, start at the element nearest to the middle.
    const distance = isThere ? along + sideways * across : Math.hypot(along, across);
    if ((isThere && along <= 0) || distance >= nearest) continue;
    [best, nearest] = [id, distance];
  }
  return best;
}
