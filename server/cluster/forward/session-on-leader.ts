// What a session's tool that writes asks of the node that leads, where the session lives on another one: the
// query itself, under its own name. Invariant: the session gets what it would have got from a write of its own.
import {
  type Database,
  type JsonView,
  type Query,
  fail,
  parseUuid,
  type copyWindow,
} from '../../../engine/internal.js';
import { rawText } from '../../mcp/message/json-rpc.js';

/** The body of `POST /<Query>`: of a tool's arguments those of the query, as they came. */
export function queryBody({ plan }: Query, view: JsonView, body: Uint8Array): Uint8Array {
  const data = view.member('data');
  const places = data?.kind === 'object' ? [data, view] : [view];
  const members = plan.parameters.flatMap(({ name }) => {
    const place = places.find((one) => one.member(name) !== undefined);
    if (place === undefined) return [];
    return [`${JSON.stringify(name)}:${rawText(place.member(name)!, body)}`];
  });
  return Buffer.from(`{${members.join(',')}}`);
}

/**
 * The elements of a reply that is nothing else, as this node has them; the leader was asked at `startedAt`. Fails
 * OUTCOME_UNKNOWN if this node is behind the reply: its session cannot use elements that it does not have yet. Also
 * if the reply has no readable position.
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
