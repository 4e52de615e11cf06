// Prints the replies of the explorer, by kind of request; the simplest kind, a page of one type, is in this
// file.
// Invariant: `count` limits every page of elements, and every element that is read counts towards the limits,
// as in any other read.
import type { ByteWriter } from '../../base/bytes.js';
import { excerpt, fail } from '../../base/errors.js';
import type { ExplorerRequest } from '../../plan/plan.js';
import type { Frame } from '../runtime/frame.js';
import { printSubgraph, printPath } from './explorer-subgraph.js';
import { printNeighbours } from './explorer-neighbours.js';
import { existing, printElements, uuidText } from './explorer-elements.js';
import { printFound } from './explorer-search.js';
import { printMap, printVector } from './explorer-vectors.js';

export function buildExplorerReply(
  request: ExplorerRequest,
): (frame: Frame, out: ByteWriter) => void {
  switch (request.kind) {
    case 'neighbours':
      return (frame, out) => printNeighbours(frame, out, request);
    case 'elements':
      return (frame, out) => printOfType(frame, out, request);
    case 'search':
      return (frame, out) => printFound(frame, out, request);
    case 'subgraph':
      return (frame, out) => printSubgraph(frame, out, request);
    case 'path':
      return (frame, out) => printPath(frame, out, request);
    case 'map':
      return (frame, out) => printMap(frame, out, request);
    case 'vector':
      return (frame, out) => printVector(frame, out, request.id);
  }
}

/** Prints `{count, items, more}`. `more` is the id to continue after, or null. */
function printOfType(
  frame: Frame,
  out: ByteWriter,
  { type, count, after }: Extract<ExplorerRequest, { kind: 'elements' }>,
): void {
  const { catalog } = frame.view;
  const label =
    catalog.find('node', type) ?? catalog.find('vector', type) ?? catalog.find('edge', type);
  if (label === undefined) fail('UNKNOWN_TYPE', { kind: 'node', name: excerpt(type) });
  const start = after === null ? 0 : existing(frame, after);
  // Read one more id to know whether there are more.
  const ids: number[] = [];
  for (const batch of frame.view.scan(label.id)) {
    frame.tick(batch.length);
    if (batch.length === 0 || batch[batch.length - 1]! <= start) continue;
    for (let i = 0; i < batch.length && ids.length <= count; i++) {
      if (batch[i]! > start) ids.push(batch[i]!);
    }
    if (ids.length > count) break;
  }
  const page = ids.slice(0, count);
  out.ascii(`{"count":${frame.view.count(label.id)},"items":`);
  printElements(frame, out, page);
  const more = ids.length > count ? `"${uuidText(frame, page.at(-1)!)}"` : 'null';
  out.ascii(`,"more":${more}}`);
}
