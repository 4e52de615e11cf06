// Shared state of the components around the canvas: the model, its renderer, and the function that adds
// neighbors.
import { counted } from '../model/format-number.js';
import type { GraphModel, Subgraph, Step } from '../model/graph-model.js';
import { packIds, packPositions } from '../model/packed-ids.js';
import { type Item, isItem } from '../model/item.js';
import { explore, messageOf } from '../state/api.js';
import type { GraphRenderer } from './graph-renderer.js';

/** Elements in the address. Edges between them are loaded. */
const linkMax = 2_000;
/** Selected elements in the address, and pinned elements with their positions. */
const chosenMax = 20;
const pinnedMax = 200;

export interface CanvasContext {
  model: GraphModel;
  renderer: GraphRenderer;
  /** Draws again after a change of the model. */
  changed: (near?: string) => void;
  showMessage: (text: string) => void;
  isInset: boolean;
}

/**
 * `version` counts the changes of the model. A component with equal properties is not drawn again.
 */
export interface CanvasProps {
  context: CanvasContext | undefined;
  version: number;
}

/**
 * Writes the elements, the selection, the pins and the colors into the address, so that a link shows the
 * same view.
 */
export function inAddress(
  { model, renderer }: CanvasContext,
  max = linkMax,
): Record<string, string> {
  const pinned = [...model.pinned].slice(0, pinnedMax);
  return {
    n: packIds([...model.nodes.keys()].slice(0, max)),
    at: packIds([...model.chosen].slice(0, chosenMax)),
    by: renderer.colourBy,
    pin: packIds(pinned),
    place: packPositions(pinned.map((id) => renderer.positionOf(id))),
  };
}

/** Adds neighbors of an element, by one edge type or by all. Returns how many are left. */
export async function expand(
  context: CanvasContext,
  id: string,
  options: { label?: string; direction?: string; limit?: number; after?: string },
): Promise<string | null> {
  const { model, renderer, changed, showMessage } = context;
  // Start the layout only with the new elements, so that the request does not wait for drawings.
  renderer.layout.stop();
  try {
    const found = await explore<{ items: { edge: Item; other: Item }[]; more: string | null }>(
      'neighbours',
      { id, ...options },
    );
    const nodes = found.items.map(({ other }) => other);
    const before = model.nodes.size;
    const step = model.add({ nodes, edges: found.items.map(({ edge }) => edge) }, id);
    const added = model.nodes.size - before;
    showMessage(added === 0 ? 'No new elements.' : `${counted(added, 'element')} added.`);
    changed(id);
    if (model.nodes.size <= linkMax && added > 0) void joinEdges(context, step);
    return found.more;
  } catch (error) {
    showMessage(messageOf(error));
    return null;
  }
}

/** Loads edges between new and existing elements. The new elements are shown before. */
async function joinEdges(context: CanvasContext, step: Step | undefined): Promise<void> {
  const { model, renderer, changed, showMessage } = context;
  try {
    const { edges } = await explore<Subgraph>('graph', { ids: [...model.nodes.keys()] });
    if (!model.join(edges, step)) return;
    changed();
    renderer.layout.start();
  } catch (error) {
    showMessage(messageOf(error));
  }
}

export const chosenKey = ({ chosen }: GraphModel): string => [...chosen].join();

export const chosenItems = ({ chosen, nodes, edges }: GraphModel): Item[] =>
  [...chosen].flatMap((id) => nodes.get(id) ?? edges.get(id) ?? []).filter(isItem);
