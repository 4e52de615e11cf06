// A small, static sample of the graph on the page Overview, with a link to the page Graph. The canvas takes
// no input, so that scrolling over it does not move it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../model/format-number.js';
import { GraphModel, type Piece } from '../model/graph-model.js';
import { comebacks, look } from '../state/api.js';
import { linkTo } from '../state/router.js';
import { Legend } from './legend.js';
import { Picture } from './graph-renderer.js';
import type { CanvasContext } from './canvas-context.js';

const shownMax = 400;
const nothing = (): void => undefined;

export function GraphPreview() {
  const host = useRef<HTMLDivElement>(null);
  const hands = useRef<CanvasContext | undefined>(undefined);
  const [version, redraw] = useState(0);
  // Requests the sample again when the server is back after an outage.
  useEffect(() => {
    const model = new GraphModel();
    const events = { onClick: nothing, onDouble: nothing, onGround: nothing, onRest: nothing };
    const picture = new Picture(host.current!, model, events);
    hands.current = { model, picture, changed: nothing, say: nothing, isInset: true };
    let isLeft = false;
    look<Piece>('graph', { limit: shownMax })
      .then((piece) => {
        if (isLeft) return;
        model.add(piece, undefined, false);
        picture.follow();
        redraw((n) => n + 1);
      })
      // Without a drawing, the numbers on the page have the same content.
      .catch(nothing);
    return () => {
      isLeft = true;
      picture.close();
    };
  }, [comebacks.value]);
  const elements = hands.current?.model.nodes.size ?? 0;
  return (
    <div class="preview">
      <div class="stage">
        <div ref={host} class="canvas" aria-hidden="true" />
      </div>
      <div class="caption">
        <a href={linkTo('graph')} data-nodes={elements}>
          {elements === 0 ? 'Open the graph' : `${counted(elements, 'element')} · open`}
        </a>
        <Legend hands={hands.current} version={version} />
      </div>
    </div>
  );
}
