// Loads the initial elements of a canvas: those of an address or a result, or a sample of the graph. Also
// provides the text of an empty canvas.
import { counted } from '../model/format-number.js';
import type { CanvasStart, GraphModel, Piece } from '../model/graph-model.js';
import { type Item, isEdge } from '../model/item.js';
import { look } from '../state/api.js';
import type { Picture } from './graph-renderer.js';

const startCount = 400;

export async function firstPiece(start: CanvasStart): Promise<Piece> {
  const { ids, around } = start;
  if (around !== undefined) {
    const [own, near] = await Promise.all([
      look<Piece>('graph', { ids: [around] }),
      look<{ items: { edge: Item; other: Item }[] }>('neighbours', { id: around }),
    ]);
    const [element] = own.nodes;
    const all = [...own.nodes, ...near.items.map(({ other }) => other)];
    if (element !== undefined && isEdge(element)) return piecesAtEdge(element);
    const joined = await look<Piece>('graph', { ids: all.map(({ id }) => id) });
    return { nodes: all, edges: joined.edges };
  }
  const piece = await look<Piece>('graph', ids === undefined ? { limit: startCount } : { ids });
  return withEnds(piece);
}

const piecesAtEdge = (edge: Item): Promise<Piece> =>
  look<Piece>('graph', { ids: [edge.from_node, edge.to_node] });

/** The edges of a result are added with their endpoints. */
async function withEnds(piece: Piece): Promise<Piece> {
  const edges = piece.nodes.filter(isEdge);
  if (edges.length === 0) return piece;
  const nodes = piece.nodes.filter((item) => !isEdge(item));
  const ends = edges.flatMap(({ from_node, to_node }) => [from_node!, to_node!]);
  const ids = [...new Set([...nodes.map(({ id }) => id), ...ends])];
  const whole = await look<Piece>('graph', { ids });
  return { nodes: whole.nodes, edges: [...edges, ...whole.edges] };
}

/** Adds the elements to the canvas. Returns those that no longer exist. */
export function beginWith(
  model: GraphModel,
  picture: Picture,
  start: CanvasStart,
  piece: Piece,
): string {
  model.add(piece, undefined, false);
  const hasCome = (id: string): boolean => model.nodes.has(id) || model.edges.has(id);
  for (const id of start.chosen?.filter(hasCome) ?? []) model.chosen.add(id);
  for (const [id, place] of start.pinned ?? []) {
    if (!model.nodes.has(id)) continue;
    model.pinned.add(id);
    picture.keepPlace(id, place);
  }
  const gone = new Set(start.ids?.filter((id) => !hasCome(id))).size;
  if (model.nodes.size === 0 || gone === 0 || model.left > 0) return '';
  return `No longer stored, of what this link shows: ${counted(gone, 'element')}.`;
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
  isFault?: boolean;
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
