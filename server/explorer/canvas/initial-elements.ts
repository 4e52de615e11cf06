// Loads the initial elements of a canvas: those of an address or a result, or a sample of the graph. Also
// provides the text of an empty canvas.
import { counted } from '../model/format-number.js';
import type { CanvasStart, GraphModel, Subgraph } from '../model/graph-model.js';
import { type Item, isEdge } from '../model/item.js';
import { explore } from '../state/api.js';
import type { GraphRenderer } from './graph-renderer.js';

const startCount = 400;

export async function readInitialSubgraph(start: CanvasStart): Promise<Subgraph> {
  const { ids, around } = start;
  if (around !== undefined) {
    const [own, near] = await Promise.all([
      explore<Subgraph>('graph', { ids: [around] }),
      explore<{ items: { edge: Item; other: Item }[] }>('neighbours', { id: around }),
    ]);
    const [element] = own.nodes;
    const all = [...own.nodes, ...near.items.map(({ other }) => other)];
    if (element !== undefined && isEdge(element)) return readEndpoints(element);
    const joined = await explore<Subgraph>('graph', { ids: all.map(({ id }) => id) });
    return { nodes: all, edges: joined.edges };
  }
  const subgraph = await explore<Subgraph>(
    'graph',
    ids === undefined ? { limit: startCount } : { ids },
  );
  return withEnds(subgraph);
}

const readEndpoints = (edge: Item): Promise<Subgraph> =>
  explore<Subgraph>('graph', { ids: [edge.from_node, edge.to_node] });

/** The edges of a result are added with their endpoints. */
async function withEnds(subgraph: Subgraph): Promise<Subgraph> {
  const edges = subgraph.nodes.filter(isEdge);
  if (edges.length === 0) return subgraph;
  const nodes = subgraph.nodes.filter((item) => !isEdge(item));
  const ends = edges.flatMap(({ from_node, to_node }) => [from_node!, to_node!]);
  const ids = [...new Set([...nodes.map(({ id }) => id), ...ends])];
  const whole = await explore<Subgraph>('graph', { ids });
  return { nodes: whole.nodes, edges: [...edges, ...whole.edges] };
}

/** Adds the elements to the canvas. Returns those that no longer exist. */
export function beginWith(
  model: GraphModel,
  renderer: GraphRenderer,
  start: CanvasStart,
  subgraph: Subgraph,
): string {
  model.add(subgraph, undefined, false);
  const hasCome = (id: string): boolean => model.nodes.has(id) || model.edges.has(id);
  for (const id of start.chosen?.filter(hasCome) ?? []) model.chosen.add(id);
  for (const [id, position] of start.pinned ?? []) {
    if (!model.nodes.has(id)) continue;
    model.pinned.add(id);
    renderer.presetPosition(id, position);
  }
  const missing = new Set(start.ids?.filter((id) => !hasCome(id))).size;
  if (model.nodes.size === 0 || missing === 0 || model.left > 0) return '';
  return `No longer stored, of what this link shows: ${counted(missing, 'element')}.`;
}

/** Returns the property of the address that determines the colors, if elements have it. */
export const colourOfStart = ({ colourBy = '' }: CanvasStart, { nodes }: GraphModel): string =>
  [...nodes.values()].some((item) => colourBy in item) ? colourBy : '';

export interface Blank {
  head: string;
  why: string;
  /** Other addresses can show more. */
  isLink: boolean;
  /** The server did not report the number. */
  isError?: boolean;
}

export function blankOf({ ids, around }: CanvasStart): Blank {
  const isLink = ids !== undefined || around !== undefined;
  if (!isLink) {
    const why = 'Create some nodes and edges on the page Query, then come back.';
    return { head: 'There is nothing to show yet', why, isLink };
  }
  return {
    head: 'There is nothing to show',
    why: 'The elements of this link are no longer stored.',
    isLink,
  };
}
