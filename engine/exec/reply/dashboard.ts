// Prints the replies of the HelixDB-compatible dashboard: nodes, their neighborhood, the graph of the oldest
// nodes. Property values are printed as strings; unset ones are omitted.
// Invariant: every element and every edge that is read counts towards the limits, as in any other read.
import type { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import type { InspectionRequest } from '../../plan/plan.js';
import { fragmentOf, labelOf, uuidAt } from '../../storage/record/record.js';
import type { Label } from '../../storage/table/view-types.js';
import type { Frame } from '../runtime/frame.js';
import { buildExplorerReply } from './explorer.js';

/** Maximum edges of one element in one direction, and of the graph. */
const edgesMax = 10_000;
const edgesDrawnMax = 100_000;

/** Number of edges between two checks of the deadline. */
const edgeBatch = 1_024;

type Json = Record<string, unknown>;

export type PrintInspection = (frame: Frame, out: ByteWriter) => void;

export function buildInspection(request: InspectionRequest): PrintInspection {
  switch (request.kind) {
    case 'node':
      return (frame, out) => printNode(frame, out, request.id);
    case 'nodes':
      return (frame, out) => printNodes(frame, out, request);
    case 'connections':
      return (frame, out) => printConnections(frame, out, request.id);
    case 'graph':
      return (frame, out) => printGraph(frame, out, request);
    default:
      return buildExplorerReply(request);
  }
}

const printJson = (out: ByteWriter, value: unknown): void => out.utf8(JSON.stringify(value));

/** Prints an array of the `items` that exist. Returns their number. */
function printEach<T>(
  frame: Frame,
  out: ByteWriter,
  items: Iterable<T>,
  describe: (item: T) => Json | undefined,
): number {
  let count = 0;
  out.byte(91);
  for (const item of items) {
    const value = describe(item);
    if (value === undefined) continue;
    if (count++ > 0) out.byte(44);
    frame.countItem(out);
    printJson(out, value);
  }
  out.byte(93);
  return count;
}

/** Returns the text of a stored property: the content of a string, otherwise its JSON. */
function textOf(record: Uint8Array, slot: number): string | undefined {
  const { start, end } = fragmentOf(record, slot);
  if (start === end) return undefined;
  const json = Buffer.from(record.buffer, record.byteOffset + start, end - start).toString();
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

function labelIn(frame: Frame, id: number): Label | undefined {
  const record = frame.readRecord(id);
  return record && frame.view.catalog.label(labelOf(record));
}

/** Returns `{id, label, title, <properties>}`, or undefined when the element no longer exists. */
function describeElement(frame: Frame, id: number): Json | undefined {
  const record = frame.readRecord(id);
  if (record === undefined) return undefined;
  const label = frame.view.catalog.label(labelOf(record));
  const uuid = printUuid(record, uuidAt.own);
  const entries: [string, string][] = [
    ['id', uuid],
    ['label', label.name],
    ['title', uuid],
  ];
  for (const property of label.properties) {
    const text = textOf(record, property.slot);
    if (text !== undefined) entries.push([property.name, text]);
  }
  return Object.fromEntries(entries);
}

function labels(frame: Frame, kind: Label['kind']): Label[] {
  return frame.view.catalog.labels().filter((label) => label.kind === kind);
}

/** Returns the first `count` ids of a label, oldest first. */
function firstIds(frame: Frame, label: Label, count: number): number[] {
  const ids: number[] = [];
  for (const batch of frame.view.scan(label.id)) {
    const some = batch.subarray(0, count - ids.length);
    frame.tick(some.length);
    ids.push(...some);
    if (ids.length >= count) break;
  }
  return ids;
}

function oldest(frame: Frame, kind: Label['kind'], count: number): number[] {
  const ids = labels(frame, kind).flatMap((label) => firstIds(frame, label, count));
  return ids.sort((a, b) => a - b).slice(0, count);
}

function printNode(frame: Frame, out: ByteWriter, uuid: Uint8Array): void {
  const id = frame.view.idOf(uuid);
  const isNode = id !== 0 && labelIn(frame, id)?.kind === 'node';
  printJson(out, { node: isNode ? describeElement(frame, id) : null, found: isNode });
}

function printNodes(
  frame: Frame,
  out: ByteWriter,
  { type, count }: Extract<InspectionRequest, { kind: 'nodes' }>,
): void {
  const label = frame.view.catalog.find('node', type);
  const ids = label === undefined ? [] : firstIds(frame, label, count);
  out.ascii('{"nodes":');
  const printed = printEach(frame, out, ids, (id) => describeElement(frame, id));
  out.ascii(`,"count":${printed}}`);
}

interface Incident {
  edge: number;
  far: number;
  label: Label;
}

/** Yields the edges of one element in one direction. */
function* incident(frame: Frame, id: number, direction: 'in' | 'out'): Generator<Incident> {
  for (const label of labels(frame, 'edge')) {
    frame.tick(1);
    const pairs = frame.view.adjacency(id, label.id, direction);
    for (let i = 0; i < pairs.length; i += 2) {
      if (i % edgeBatch === 0) frame.tick(edgeBatch / 2);
      yield { edge: pairs[i]!, far: pairs[i + 1]!, label };
    }
  }
}

function firstOf<T>(items: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length === count) break;
    first.push(item);
  }
  return first;
}

function describeEdge(frame: Frame, { edge, label }: Incident): Json | undefined {
  const record = frame.readRecord(edge);
  return (
    record && {
      id: printUuid(record, uuidAt.own),
      from_node: printUuid(record, uuidAt.from),
      to_node: printUuid(record, uuidAt.to),
      label: label.name,
    }
  );
}

function printConnections(frame: Frame, out: ByteWriter, uuid: Uint8Array): void {
  const id = frame.view.idOf(uuid);
  // Nodes and vectors have connections; an edge is one.
  const kind = id === 0 ? undefined : labelIn(frame, id)?.kind;
  if (kind === undefined || kind === 'edge')
    fail('NO_VALUE_FOUND', { what: `node ${printUuid(uuid)}` });
  const incoming = firstOf(incident(frame, id, 'in'), edgesMax);
  const outgoing = firstOf(incident(frame, id, 'out'), edgesMax);
  const far = new Set([...incoming, ...outgoing].map((edge) => edge.far));
  out.ascii('{"connected_nodes":');
  printEach(frame, out, far, (other) =>
    labelIn(frame, other)?.kind === 'node' ? describeElement(frame, other) : undefined,
  );
  out.ascii(',"incoming_edges":');
  printEach(frame, out, incoming, (edge) => describeEdge(frame, edge));
  out.ascii(',"outgoing_edges":');
  printEach(frame, out, outgoing, (edge) => describeEdge(frame, edge));
  out.byte(125);
}

function* edgesWithin(frame: Frame, nodeIds: readonly number[]): Generator<Incident> {
  const within = new Set(nodeIds);
  let count = 0;
  for (const id of nodeIds) {
    for (const edge of incident(frame, id, 'out')) {
      if (!within.has(edge.far)) continue;
      if (count++ === edgesDrawnMax) return;
      yield edge;
    }
  }
}

function printGraph(
  frame: Frame,
  out: ByteWriter,
  { count, title }: Extract<InspectionRequest, { kind: 'graph' }>,
): void {
  const nodeIds = oldest(frame, 'node', count);
  out.ascii('{"data":{"nodes":');
  printEach(frame, out, nodeIds, (id) => {
    const value = describeElement(frame, id);
    if (value === undefined) return undefined;
    const named = title !== null && Object.hasOwn(value, title) ? value[title] : value.label;
    return { id: value.id, title: value.title, label: named };
  });
  out.ascii(',"edges":');
  printEach(frame, out, edgesWithin(frame, nodeIds), (edge) => {
    const value = describeEdge(frame, edge);
    return value && { id: value.id, from: value.from_node, to: value.to_node, title: value.label };
  });
  out.ascii('},"vectors":');
  printEach(frame, out, oldest(frame, 'vector', count), (id) => describeVector(frame, id));
  const total = (kind: Label['kind']): number =>
    labels(frame, kind).reduce((sum, label) => sum + frame.view.count(label.id), 0);
  const [nodes, edges, vectors] = [total('node'), total('edge'), total('vector')];
  out.ascii(',"stats":');
  printJson(out, { num_nodes: nodes, num_edges: edges, num_vectors: vectors });
  out.byte(125);
}

function describeVector(frame: Frame, id: number): Json | undefined {
  const record = frame.readRecord(id);
  if (record === undefined) return undefined;
  const label = frame.view.catalog.label(labelOf(record));
  const dimension = frame.view.dimension(label.id);
  const uuid = printUuid(record, uuidAt.own);
  return { id: uuid, label: label.name, dimension, level: 0, distance: 0, data: [] };
}
