// The four read-only routes of HelixDB's dashboard (http.md 9), answered from one snapshot on the
// calling thread. Property values are texts here; unset ones are left out. Every walk is bounded by
// the limits of the route.
import {
  type Label,
  type ReadView,
  excerpt,
  fail,
  fragmentOf,
  labelOf,
  parseUuid,
  printUuid,
  uuidAt,
} from '../engine/index.js';

const itemsMax = 10_000;
const edgesDrawnMax = 100_000;

type Json = Record<string, unknown>;

/** One route: the query string's parameters and a snapshot give the answer's value. */
export type Explore = (view: ReadView, parameters: URLSearchParams) => Json;

function required(parameters: URLSearchParams, owner: string, name: string, type: string): string {
  const value = parameters.get(name);
  if (value === null) {
    return fail('PARAM_MISSING', { owner, param: name, type }, { path: `/${name}` });
  }
  return value;
}

function limitOf(parameters: URLSearchParams, standard: number): number {
  const text = parameters.get('limit');
  if (text === null) return standard;
  if (!/^[0-9]{1,9}$/.test(text)) {
    const args = { param: 'limit', type: 'an integer', got: excerpt(JSON.stringify(text)) };
    fail('PARAM_TYPE', args, { path: '/limit' });
  }
  return Math.min(Number(text), itemsMax);
}

/** The 16 bytes of an id: UUID text, or the same number in decimal as HelixDB prints it. */
function idOf(parameters: URLSearchParams, owner: string, name: string): Uint8Array {
  const text = required(parameters, owner, name, 'ID');
  const bytes = parseUuid(text) ?? parseDecimalId(text);
  if (bytes !== undefined) return bytes;
  const args = { param: name, type: 'ID', got: excerpt(JSON.stringify(text)) };
  return fail('PARAM_TYPE', args, { path: `/${name}` });
}

function parseDecimalId(text: string): Uint8Array | undefined {
  if (!/^[0-9]{1,39}$/.test(text)) return undefined;
  const value = BigInt(text);
  if (value >= 1n << 128n) return undefined;
  return Buffer.from(value.toString(16).padStart(32, '0'), 'hex');
}

/** The text of a stored property: a string's content, otherwise its JSON. */
function textOf(record: Uint8Array, slot: number): string | undefined {
  const { start, end } = fragmentOf(record, slot);
  if (start === end) return undefined;
  const json = Buffer.from(record.buffer, record.byteOffset + start, end - start).toString();
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** `{id, label, title, <properties>}`, or undefined when the element is gone. */
function describe(view: ReadView, id: number): { label: Label; value: Json } | undefined {
  const record = view.record(id);
  if (record === undefined) return undefined;
  const label = view.catalog.label(labelOf(record));
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
  return { label, value: Object.fromEntries(entries) };
}

function labels(view: ReadView, kind: Label['kind']): Label[] {
  return view.catalog.labels().filter((label) => label.kind === kind);
}

/** The first `count` ids of a label, oldest first. */
function firstIds(view: ReadView, label: number, count: number): number[] {
  const ids: number[] = [];
  for (const batch of view.scan(label)) {
    for (const id of batch) {
      if (ids.length === count) return ids;
      ids.push(id);
    }
  }
  return ids;
}

function oldest(view: ReadView, kind: Label['kind'], count: number): number[] {
  const ids = labels(view, kind).flatMap((label) => firstIds(view, label.id, count));
  return ids.sort((a, b) => a - b).slice(0, count);
}

const nodeDetails: Explore = (view, parameters) => {
  const id = view.idOf(idOf(parameters, '/node-details', 'id'));
  const found = id === 0 ? undefined : describe(view, id);
  const node = found?.label.kind === 'node' ? found.value : null;
  return { node, found: node !== null };
};

const nodesByLabel: Explore = (view, parameters) => {
  const name = required(parameters, '/nodes-by-label', 'label', 'String');
  const count = limitOf(parameters, 1_000);
  const label = view.catalog.find('node', name);
  const ids = label === undefined ? [] : firstIds(view, label.id, count);
  const nodes = ids.flatMap((id) => describe(view, id)?.value ?? []);
  return { nodes, count: nodes.length };
};

interface Incident {
  edge: number;
  far: number;
  label: Label;
}

/** Edges of one element in one direction, at most `count`. */
function incident(view: ReadView, id: number, direction: 'in' | 'out', count: number): Incident[] {
  const found: Incident[] = [];
  for (const label of labels(view, 'edge')) {
    const pairs = view.adjacency(id, label.id, direction);
    for (let i = 0; i < pairs.length && found.length < count; i += 2) {
      found.push({ edge: pairs[i]!, far: pairs[i + 1]!, label });
    }
  }
  return found;
}

function describeEdge(view: ReadView, { edge, label }: Incident): Json {
  const record = view.record(edge);
  if (record === undefined) return {};
  return {
    id: printUuid(record, uuidAt.own),
    from_node: printUuid(record, uuidAt.from),
    to_node: printUuid(record, uuidAt.to),
    label: label.name,
  };
}

const nodeConnections: Explore = (view, parameters) => {
  const uuid = idOf(parameters, '/node-connections', 'node_id');
  const id = view.idOf(uuid);
  // Nodes and vectors have connections, edges are some.
  const kind = id === 0 ? undefined : describe(view, id)?.label.kind;
  if (kind === undefined || kind === 'edge') {
    fail('NO_VALUE_FOUND', { what: `node ${printUuid(uuid)}` });
  }
  const incoming = incident(view, id, 'in', itemsMax);
  const outgoing = incident(view, id, 'out', itemsMax);
  const far = new Set([...incoming, ...outgoing].map((edge) => edge.far));
  const neighbours = [...far].flatMap((other) => describe(view, other) ?? []);
  return {
    connected_nodes: neighbours.filter((n) => n.label.kind === 'node').map((n) => n.value),
    incoming_edges: incoming.map((edge) => describeEdge(view, edge)),
    outgoing_edges: outgoing.map((edge) => describeEdge(view, edge)),
  };
};

const nodesEdges: Explore = (view, parameters) => {
  const count = limitOf(parameters, 300);
  const shown = parameters.get('node_label');
  const nodeIds = oldest(view, 'node', count);
  const nodes = nodeIds.flatMap((id) => {
    const value = describe(view, id)?.value;
    if (value === undefined) return [];
    const named = shown !== null && Object.hasOwn(value, shown) ? value[shown] : value.label;
    return { id: value.id, title: value.title, label: named };
  });
  const vectors = oldest(view, 'vector', count).flatMap((id) => {
    const found = describe(view, id);
    if (found === undefined) return [];
    const dimension = view.dimension(found.label.id);
    const { id: uuid, label } = found.value;
    return { id: uuid, label, dimension, level: 0, distance: 0, data: [] };
  });
  const total = (kind: Label['kind']): number =>
    labels(view, kind).reduce((sum, label) => sum + view.count(label.id), 0);
  return {
    data: { nodes, edges: edgesAmong(view, nodeIds) },
    vectors,
    stats: { num_nodes: total('node'), num_edges: total('edge'), num_vectors: total('vector') },
  };
};

function edgesAmong(view: ReadView, nodeIds: readonly number[]): Json[] {
  const within = new Set(nodeIds);
  const edges: Json[] = [];
  for (const id of nodeIds) {
    for (const edge of incident(view, id, 'out', edgesDrawnMax - edges.length)) {
      if (!within.has(edge.far)) continue;
      const { id: uuid, from_node, to_node, label } = describeEdge(view, edge);
      edges.push({ id: uuid, from: from_node, to: to_node, title: label });
    }
  }
  return edges;
}

export const explorerRoutes: ReadonlyMap<string, Explore> = new Map([
  ['/node-details', nodeDetails],
  ['/nodes-by-label', nodesByLabel],
  ['/node-connections', nodeConnections],
  ['/nodes-edges', nodesEdges],
]);
