// Prints the map of a vector type as JSON, and the vector of one element for clients that search with it.
// Invariant: the map contains only positions and scores of vectors, never the vectors.
import type { ByteWriter } from '../../base/bytes.js';
import { excerpt, fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import type { ExplorerRequest } from '../../plan/plan.js';
import type { Frame } from '../runtime/frame.js';
import { proposedLabel } from '../runtime/element.js';
import { mapOf } from '../search/vector-map.js';
import { existing, printList, uuidText } from './explorer-elements.js';

const digits = (value: number): string => String(Number(value.toFixed(6)));

/** Prints `{points: [{id, x, y}], edges: [[i, j]], scores, recall, dimensions, of}`. */
export function printMap(
  frame: Frame,
  out: ByteWriter,
  request: Extract<ExplorerRequest, { kind: 'map' }>,
): void {
  const { view } = frame;
  const label = view.catalog.find('vector', request.type);
  if (label === undefined) fail('UNKNOWN_TYPE', { kind: 'vector', name: excerpt(request.type) });
  const wanted = request.ids
    .map((uuid) => view.idOf(uuid))
    .filter((id) => id !== 0 && proposedLabel(frame, id) === label.id);
  const map = mapOf(frame, { ...request, label, wanted });
  out.ascii('{"points":');
  printList(frame, out, map.ids.entries(), ([at, id]) => {
    const [x, y] = [digits(map.coordinates[2 * at]!), digits(map.coordinates[2 * at + 1]!)];
    out.ascii(`{"id":"${uuidText(frame, id)}","x":${x},"y":${y}}`);
  });
  out.ascii(',"edges":');
  printList(frame, out, map.edges, ({ ends }) => out.ascii(`[${ends[0]},${ends[1]}]`));
  out.ascii(',"scores":[');
  out.ascii(map.edges.map(({ score }) => digits(score)).join());
  out.ascii(`],"recall":${map.recall === null ? 'null' : digits(map.recall)}`);
  out.ascii(`,"dimensions":${view.dimension(label.id)},"of":${view.count(label.id)}}`);
}

/** Prints `{vector}` with the numbers as they were stored. */
export function printVector(frame: Frame, out: ByteWriter, uuid: Uint8Array): void {
  const vector = frame.view.vector(existing(frame, uuid));
  if (vector === undefined) fail('NO_VALUE_FOUND', { what: `vector ${printUuid(uuid)}` });
  out.ascii(`{"vector":${JSON.stringify([...vector])}}`);
}
