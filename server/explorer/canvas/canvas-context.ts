// Shared state of the components around the canvas: the model, its renderer, and the function that adds
// neighbors.
import { counted } from '../model/format-number.js';
import type { GraphModel, Piece, Step } from '../model/graph-model.js';
import { packIds, packPlaces } from '../model/packed-ids.js';
import { type Item, isItem } from '../model/item.js';
import { look, messageOf } from '../state/api.js';
import type { Picture } from './graph-renderer.js';

/** Elements in the address. Edges between them are loaded. */
const linkMax = 2_000;
/** Selected elements in the address, and pinned elements with their positions. */
const chosenMax = 20;
const pinnedMax = 200;

export interface CanvasContext {
  model: GraphModel;
  picture: Picture;
  /** Draws again after a change of the model. */
  changed: (near?: string) => void;
  say: (text: string) => void;
  isInset: boolean;
}

/**
 * `version` counts the changes of the model. A component with equal properties is not drawn again.
 */
export interface HandsProps {
  hands: CanvasContext | undefined;
  version: number;
}

/**
 * Writes the elements, the selection, the pins and the colors into the address, so that a link shows the
 * same view.
 */
export function inAddress(
  { model, picture }: CanvasContext,
  most = linkMax,
): Record<string, string> {
  const pinned = [...model.pinned].slice(0, pinnedMax);
  return {
    n: packIds([...model.nodes.keys()].slice(0, most)),
    at: packIds([...model.chosen].slice(0, chosenMax)),
    by: picture.colourBy,
    pin: packIds(pinned),
    place: packPlaces(pinned.map((id) => picture.placeOf(id))),
  };
}

/** Adds neighbors of an element, by one edge type or by all. Returns how many are left. */
export async function expand(
  hands: CanvasContext,
  id: string,
  asked: { label?: string; direction?: string; limit?: number; after?: string },
): Promise<string | null> {
  const { model, picture, changed, say } = hands;
  // Start the layout only with the new elements, so that the request does not wait for drawings.
  picture.layout.stop();
  try {
    const found = await look<{ items: { edge: Item; other: Item }[]; more: string | null }>(
      'neighbours',
      { id, ...asked },
    );
    const nodes = found.items.map(({ other }) => other);
    const before = model.nodes.size;
    const step = model.add({ nodes, edges: found.items.map(({ edge }) => edge) }, id);
    const added = model.nodes.size - before;
    say(added === 0 ? 'No new elements.' : `${counted(added, 'element')} added.`);
    changed(id);
    if (model.nodes.size <= linkMax && added > 0) void joinEdges(hands, step);
    return found.more;
  } catch (error) {
    say(messageOf(error));
    return null;
  }
}

/** Loads edges between new and existing elements. The new elements are shown before. */
async function joinEdges(hands: CanvasContext, step: Step | undefined): Promise<void> {
  const { model, picture, changed, say } = hands;
  try {
    const { edges } = await look<Piece>('graph', { ids: [...model.nodes.keys()] });
    if (!model.join(edges, step)) return;
    changed();
    picture.layout.start();
  } catch (error) {
    say(messageOf(error));
  }
}

export const chosenKey = ({ chosen }: GraphModel): string => [...chosen].join();

export const chosenItems = ({ chosen, nodes, edges }: GraphModel): Item[] =>
  [...chosen].flatMap((id) => nodes.get(id) ?? edges.get(id) ?? []).filter(isItem);
