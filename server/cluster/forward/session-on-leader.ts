// Runs the writing tool of a session on the leader, if the session is on another node: calls the query under
// its own name. Invariant: the session gets the same result as from a local write.
import {
  type Database,
  type JsonView,
  type Query,
  fail,
  parseUuid,
  type copyWindow,
} from '../../../engine/internal.js';
import { rawText } from '../../mcp/message/json-rpc.js';

/**
 * Returns the body of `POST /<Query>`: the query's arguments, unchanged, out of the arguments of a tool.
 */
export function queryBody({ plan }: Query, view: JsonView, body: Uint8Array): Uint8Array {
  const data = view.member('data');
  const bodies = data?.kind === 'object' ? [data, view] : [view];
  const members = plan.parameters.flatMap(({ name }) => {
    const source = bodies.find((one) => one.member(name) !== undefined);
    if (source === undefined) return [];
    return [`${JSON.stringify(name)}:${rawText(source.member(name)!, body)}`];
  });
  return Buffer.from(`{${members.join(',')}}`);
}

/**
 * Returns the elements of a reply that holds only elements, as this node stores them. The leader was asked at
 * `startedAt`. Fails OUTCOME_UNKNOWN if this node has not applied the reply's position yet: its session
 * cannot use elements that this node lacks. Fails in the same way if the reply is no list of elements.
 */
export function itemsIn(
  reply: Uint8Array,
  database: Database,
  startedAt: number,
): ReturnType<typeof copyWindow> {
  const uuids = uuidsIn(reply);
  if (uuids === undefined || database.cluster?.owed !== undefined)
    return fail('OUTCOME_UNKNOWN', { ms: Math.round(performance.now() - startedAt) });
  const ids = database.view((view) => uuids.map((id) => view.idOf(id)).filter((id) => id !== 0));
  return { ids: Uint32Array.from(ids) };
}

/** Returns undefined if the bytes are no such reply. */
function uuidsIn(reply: Uint8Array): Uint8Array[] | undefined {
  try {
    const [value] = Object.values(JSON.parse(Buffer.from(reply).toString()) as object);
    const elements = ([value].flat() as ({ id: string } | null)[]).filter((one) => one !== null);
    const uuids = elements.map(({ id }) => parseUuid(id));
    return uuids.every((one) => one !== undefined) ? uuids : undefined;
  } catch {
    return undefined;
  }
}
