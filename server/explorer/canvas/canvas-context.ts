// What the parts around the canvas hold in their hands: the model, its picture, and how neighbours come onto
// it.
import { counted } from '../model/format-number.js';
import type { GraphModel, Piece, Step } from '../model/graph-model.js';
import { packIds, packPlaces } from '../model/packed-ids.js';
import { type Item, isItem } from '../model/item.js';
import { look, messageOf } from '../state/api.js';
import type { Picture } from './graph-renderer.js';

/** Elements that an address names, and among which edges are looked for. */
const linkMax = 2_000;
/** Chosen elements that it names, and pinned ones, each with its place. */
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

/** `version` counts the changes of the model: parts with the same properties are not drawn again. */
export interface HandsProps {
  hands: CanvasContext | undefined;
  version: number;
}

/** So that a link shows the same elements, the same ones chosen and pinned, and the same colours. */
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

/** Adds neighbours of an element, of one kind of edge or of all; says what is left. */
export async function expand(
  hands: CanvasContext,
  id: string,
  asked: { label?: string; direction?: string; limit?: number; after?: string },
): Promise<string | null> {
  const { model, picture, changed, say } = hands;
  // It begins anew with what comes; until then the answer is not to wait for drawings.
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

/** Edges between what came and what was here: the elements themselves do not wait for them. */
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
