// What the parts around the canvas hold in their hands: the model, its picture, and how neighbours come onto
// it.
import { counted } from '../model/figures.js';
import type { GraphModel, Piece } from '../model/graph-model.js';
import { type Item, isItem } from '../model/item.js';
import { look, messageOf } from '../state/api.js';
import type { Picture } from './picture.js';

/** Elements that an address names, and among which edges are looked for. */
export const linkMax = 2_000;

export interface Hands {
  model: GraphModel;
  picture: Picture;
  /** Draws again after a change of the model. */
  changed: (near?: string) => void;
  say: (text: string) => void;
  isInset: boolean;
}

/** `version` counts the changes of the model: parts with the same properties are not drawn again. */
export interface HandsProps {
  hands: Hands | undefined;
  version: number;
}

/** Adds neighbours of an element, of one kind of edge or of all; says what is left. */
export async function expand(
  { model, changed, say }: Hands,
  id: string,
  asked: { label?: string; direction?: string; limit?: number; after?: string },
): Promise<string | null> {
  try {
    const found = await look<{ items: { edge: Item; other: Item }[]; more: string | null }>(
      'neighbours',
      { id, ...asked },
    );
    const nodes = found.items.map(({ other }) => other);
    const before = model.nodes.size;
    model.add({ nodes, edges: found.items.map(({ edge }) => edge) }, id);
    const added = model.nodes.size - before;
    say(added === 0 ? 'Nothing new: these are all here.' : `${counted(added, 'element')} added.`);
    // Edges between what came and what was here.
    if (model.nodes.size <= linkMax && added > 0) {
      const joined = await look<Piece>('graph', { ids: [...model.nodes.keys()] });
      model.join(joined.edges);
    }
    changed(id);
    return found.more;
  } catch (error) {
    say(messageOf(error));
    return null;
  }
}

export const chosenKey = ({ chosen }: GraphModel): string => [...chosen].join();

export const chosenItems = ({ chosen, nodes, edges }: GraphModel): Item[] =>
  [...chosen].flatMap((id) => nodes.get(id) ?? edges.get(id) ?? []).filter(isItem);
