// The canvas with its tools and, beside it, what is chosen: expanding, collapsing, hiding, pinning, the way
// between two, colours, files. Everything on it is asked for in bounded pieces, and what is left is said.
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../model/figures.js';
import {
  type CanvasStart,
  GraphModel,
  type Piece,
  nodesMax,
  packIds,
} from '../model/graph-model.js';
import { type Item, isEdge } from '../model/item.js';
import { look, messageOf } from '../state/api.js';
import { setParams } from '../state/router.js';
import { listenForMarquee } from './marquee.js';
import { Picture } from './picture.js';
import { chosenKey, expand, type Hands, linkMax } from './hands.js';
import { Inspector } from './inspector.js';
import { onCanvasKey } from './keyboard.js';
import { Legend } from './legend.js';
import { Tools } from './tools.js';

const startCount = 400;
/** Chosen elements that an address names. */
const chosenMax = 20;

async function firstPiece(start: CanvasStart): Promise<Piece> {
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

/** Edges that an answer holds come with their ends. */
async function withEnds(piece: Piece): Promise<Piece> {
  const edges = piece.nodes.filter(isEdge);
  if (edges.length === 0) return piece;
  const nodes = piece.nodes.filter((item) => !isEdge(item));
  const ends = edges.flatMap(({ from_node, to_node }) => [from_node!, to_node!]);
  const ids = [...new Set([...nodes.map(({ id }) => id), ...ends])];
  const whole = await look<Piece>('graph', { ids });
  return { nodes: whole.nodes, edges: [...edges, ...whole.edges] };
}

function useCanvas(start: CanvasStart, isInset: boolean) {
  const host = useRef<HTMLDivElement>(null);
  const hands = useRef<Hands | undefined>(undefined);
  const [message, say] = useState('');
  const [isEmpty, setEmpty] = useState(false);
  const [version, redraw] = useState(0);
  useEffect(() => {
    const model = new GraphModel();
    // What comes when the canvas has been left changes nothing.
    let isLeft = false;
    const draw = (): void => redraw((n) => n + 1);
    const isChanged = (): void => {
      picture.refresh();
      draw();
      noted();
    };
    const choose = (id: string, isMore: boolean): void => {
      // An edge is chosen by itself.
      const isAlone = !isMore || [...model.chosen].some((one) => model.edges.has(one));
      if (isAlone) model.chosen.clear();
      if (isMore && model.chosen.has(id)) model.chosen.delete(id);
      else model.chosen.add(id);
      isChanged();
    };
    const noted = (): void => {
      if (!isInset) keepInAddress(hands.current!);
    };
    const picture = new Picture(host.current!, model, {
      onClick: choose,
      onDouble: (id) => void expand(hands.current!, id, {}),
      onEdge: (id) => choose(id, false),
      onGround: () => {
        model.chosen.clear();
        isChanged();
      },
      onRest: draw,
    });
    const unlisten = listenForMarquee(host.current!, (box) => {
      for (const id of picture.within(box)) model.chosen.add(id);
      isChanged();
    });
    const changed = (near?: string): void => {
      if (isLeft) return;
      picture.follow(near);
      draw();
      if (model.left > 0) say(`The canvas holds ${nodesMax} at most; ${model.left} are left out.`);
      noted();
    };
    hands.current = { model, picture, changed, say, isInset };
    firstPiece(start)
      .then((piece) => {
        if (isLeft) return;
        model.add(piece, undefined, false);
        const hasCome = (id: string): boolean => model.nodes.has(id) || model.edges.has(id);
        for (const id of start.chosen?.filter(hasCome) ?? []) model.chosen.add(id);
        picture.colourBy = start.colourBy ?? '';
        setEmpty(model.nodes.size === 0);
        picture.follow();
        if (start.around !== undefined) noted();
        draw();
      })
      .catch((error: unknown) => say(messageOf(error)));
    return () => {
      isLeft = true;
      unlisten();
      picture.close();
    };
  }, []);
  return { host, hands: hands.current, version, message, say, isEmpty };
}

/** So that a link shows the same elements, the same ones chosen, and the same colours. */
function keepInAddress({ model, picture }: Hands): void {
  const ids = [...model.nodes.keys()].slice(0, linkMax);
  setParams({
    n: packIds(ids),
    around: undefined,
    at: packIds([...model.chosen].slice(0, chosenMax)),
    by: picture.colourBy,
  });
}

export function GraphView({ start, isInset = false }: { start: CanvasStart; isInset?: boolean }) {
  const { host, hands, version, message, say, isEmpty } = useCanvas(start, isInset);
  useEffect(() => {
    if (message === '') return undefined;
    const timer = setTimeout(() => say(''), 5000);
    return () => clearTimeout(timer);
  }, [message]);
  const onKey = (event: KeyboardEvent): void => {
    if (hands !== undefined && onCanvasKey(hands, event)) event.preventDefault();
  };
  return (
    <div class={`graph ${isInset ? 'inset' : ''}`} onKeyDown={onKey}>
      <Tools hands={hands} version={version} />
      <div class="stage">
        <div
          ref={host}
          class="canvas"
          tabIndex={0}
          role="application"
          aria-label={`Graph with ${counted(hands?.model.nodes.size ?? 0, 'element')}`}
        />
        {isEmpty && (
          <div class="empty over">
            <h2>There is nothing to draw</h2>
            <p>Write some nodes and edges with a query, or search for an element above.</p>
          </div>
        )}
        <p class="said" role="status">
          {message}
        </p>
        <Legend hands={hands} version={version} />
      </div>
      {hands !== undefined && (
        <Inspector key={chosenKey(hands.model)} hands={hands} version={version} />
      )}
    </div>
  );
}
