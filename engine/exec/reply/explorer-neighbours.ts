// Prints the neighborhood of one element in pages: the number of edges per type (one counter read each), and
// the oldest edges. It reads only the shown part of a long edge list.
import type { ByteWriter } from '../../base/bytes.js';
import type { ExplorerRequest } from '../../plan/plan.js';
import type { Direction, Label } from '../../storage/table/view-types.js';
import type { Frame } from '../runtime/frame.js';
import { existing, labelsOf, printList, printOne, uuidText } from './explorer-elements.js';

type NeighboursRequest = Extract<ExplorerRequest, { kind: 'neighbours' }>;

interface Degree {
  label: Label;
  direction: Direction;
  count: number;
}

interface Item {
  edge: number;
  far: number;
  label: Label;
  direction: Direction;
}

/** Returns the edge types with edges at the element, outgoing ones first. */
function degreesOf(frame: Frame, id: number): Degree[] {
  const labels = labelsOf(frame, 'edge');
  frame.tick(2 * labels.length);
  return (['out', 'in'] as const).flatMap((direction) =>
    labels
      .map((label) => ({ label, direction, count: frame.view.degree(id, label.id, direction) }))
      .filter(({ count }) => count > 0),
  );
}

/** Returns the requested page, and one more edge if there is one. */
function itemsOf(
  frame: Frame,
  id: number,
  degrees: readonly Degree[],
  request: NeighboursRequest,
): Item[] {
  const { count, after } = request;
  const items: Item[] = [];
  let isBefore = after !== null;
  for (const { label, direction } of degrees) {
    const isResumed = label.name === after?.label && direction === after.direction;
    if (isBefore && !isResumed) continue;
    isBefore = false;
    const window = {
      after: isResumed ? existing(frame, after.edge) : 0,
      max: count + 1 - items.length,
    };
    const pairs = frame.view.adjacencyAfter(id, label.id, direction, window);
    frame.tick(pairs.length / 2);
    for (let i = 0; i < pairs.length; i += 2) {
      items.push({ edge: pairs[i]!, far: pairs[i + 1]!, label, direction });
    }
    if (items.length > count) break;
  }
  return items;
}

/** Prints `{degrees, items, more}`. `more` is the position to continue after, or null. */
export function printNeighbours(frame: Frame, out: ByteWriter, request: NeighboursRequest): void {
  const id = existing(frame, request.id);
  const all = degreesOf(frame, id);
  const degrees = all.filter(
    ({ label, direction }) =>
      (request.label === null || request.label === label.name) &&
      (request.direction === 'both' || request.direction === direction),
  );
  const items = request.count === 0 ? [] : itemsOf(frame, id, degrees, request);
  const page = items.slice(0, request.count);
  out.ascii('{"degrees":');
  const counts = all.map(({ label, direction, count }) => ({
    label: label.name,
    direction,
    count,
  }));
  out.ascii(JSON.stringify(counts));
  out.ascii(',"items":');
  printList(frame, out, page, ({ edge, far, direction }) => {
    out.ascii(`{"direction":"${direction}","edge":`);
    printOne(frame, out, edge);
    out.ascii(',"other":');
    printOne(frame, out, far);
    out.byte(125);
  });
  const last = items.length > request.count ? page.at(-1) : undefined;
  const more = last && `"${last.direction}/${last.label.name}/${uuidText(frame, last.edge)}"`;
  out.ascii(`,"more":${more ?? 'null'}}`);
}
