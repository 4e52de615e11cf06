// Finds elements by what a user types: an id, the prefix of an indexed string, or words. Each of the three
// searches is limited by the number of wanted elements and reads only indexes.
import type { ByteWriter } from '../../base/bytes.js';
import { parseUuid } from '../../base/id.js';
import type { ExplorerRequest } from '../../plan/plan.js';
import type { Label, StoredProperty } from '../../storage/table/view-types.js';
import type { Frame } from '../runtime/frame.js';
import { labelsOf, printList, printOne } from './explorer-elements.js';

type SearchRequest = Extract<ExplorerRequest, { kind: 'search' }>;
type SearchKind = 'id' | 'prefix' | 'words';

/** Greater than every character of a string. */
const last = '\u{10ffff}';

/** Prints `{items: [{by, item}]}`, in the order of the searches above, each element once. */
export function printFound(frame: Frame, out: ByteWriter, request: SearchRequest): void {
  const found = new Map<number, SearchKind>();
  const add = (by: SearchKind, ids: Iterable<number>): void => {
    for (const id of ids) {
      if (found.size === request.count) return;
      if (!found.has(id)) found.set(id, by);
    }
  };
  const { text, types } = request;
  const labels = labelsOf(frame, 'node', 'vector', 'edge').filter(
    ({ name }) => types === null || types.includes(name),
  );
  const uuid = parseUuid(text);
  const id = uuid === undefined ? 0 : frame.view.idOf(uuid);
  if (id !== 0) add('id', [id]);
  for (const label of labels) {
    for (const property of label.properties) {
      if (isPrefixable(property))
        add('prefix', beginningWith(frame, property, text, request.count));
    }
  }
  for (const label of labels) add('words', byWords(frame, label, request));
  out.ascii('{"items":');
  printList(frame, out, found, ([id, by]) => {
    out.ascii(`{"by":"${by}","item":`);
    printOne(frame, out, id);
    out.byte(125);
  });
  out.byte(125);
}

const isPrefixable = ({ index, type }: StoredProperty): boolean =>
  index !== 'none' && type.kind === 'scalar' && type.name === 'String';

function* beginningWith(
  frame: Frame,
  property: StoredProperty,
  text: string,
  max: number,
): Generator<number> {
  // As typed, and with a capital, as names begin.
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  for (const start of new Set([text, capital])) {
    let left = max;
    const low = { value: start, inclusive: true };
    const high = { value: start + last, inclusive: true };
    for (const ids of frame.view.range(property, { low, high })) {
      frame.tick(ids.length);
      yield* ids.subarray(0, left);
      left -= ids.length;
      if (left <= 0) break;
    }
  }
}

function byWords(frame: Frame, label: Label, { text, count }: SearchRequest): number[] {
  const index = frame.context.text;
  if (index === undefined || label.kind === 'edge') return [];
  frame.tick(1);
  return index.search(frame.view, label.id, text, count).map(({ id }) => id);
}
