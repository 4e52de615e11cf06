// Finds the element under the pointer by the drawn positions. Sigma would draw everything again and read
// pixels back, so each move of the pointer would wait for the graphics card. Invariant: sigma's own hit test
// is not used.
import type Sigma from 'sigma';

interface Point {
  x: number;
  y: number;
}

/** Maximum distance in pixels from the pointer to an edge. */
const edgeDistanceMax = 4;

/** A position of the canvas in sigma's coordinates, and the size of a pixel there. */
function framed(sigma: Sigma, at: Point): Point & { pixel: number } {
  const here = sigma.viewportToFramedGraph(at);
  const nextPixel = sigma.viewportToFramedGraph({ x: at.x + 1, y: at.y });
  return { ...here, pixel: Math.hypot(nextPixel.x - here.x, nextPixel.y - here.y) };
}

/**
 * Returns the node at a point: of overlapping nodes, the one with the nearest center. Null if there is none.
 */
function nodeAt(sigma: Sigma, at: Point): string | null {
  const { x, y, pixel } = framed(sigma, at);
  let [found, nearest]: [string | null, number] = [null, 1];
  for (const id of sigma.getGraph().nodes()) {
    const data = sigma.getNodeDisplayData(id);
    if (data === undefined) continue;
    const share = Math.hypot(data.x - x, data.y - y) / (pixel * sigma.scaleSize(data.size));
    if (share < nearest) [found, nearest] = [id, share];
  }
  return found;
}

function edgeAt(sigma: Sigma, at: Point): string | null {
  const { x, y, pixel } = framed(sigma, at);
  let [found, nearest]: [string | null, number] = [null, edgeDistanceMax * pixel];
  sigma.getGraph().forEachEdge((id, _attributes, source, target) => {
    const [from, to] = [sigma.getNodeDisplayData(source), sigma.getNodeDisplayData(target)];
    if (from === undefined || to === undefined) return;
    const far = distanceTo({ x, y }, from, to);
    if (far < nearest) [found, nearest] = [id, far];
  });
  return found;
}

/** Returns the distance from a point to a line segment. */
function distanceTo({ x, y }: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const square = dx * dx + dy * dy;
  const along = square === 0 ? 0 : ((x - from.x) * dx + (y - from.y) * dy) / square;
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(from.x + share * dx - x, from.y + share * dy - y);
}

/** Replaces sigma's own hit test, and what it draws for it. */
export function installHitTest(sigma: Sigma): void {
  Object.assign(sigma, {
    getNodeAtPosition: (at: Point) => nodeAt(sigma, at),
    getEdgeAtPoint: (x: number, y: number) => edgeAt(sigma, { x, y }),
  });
  (Reflect.get(sigma, 'pickingLayers') as Set<string>).clear();
}
