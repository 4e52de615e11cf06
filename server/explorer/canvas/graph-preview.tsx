// A small, static sample of the graph on the page Overview, with a link to the page Graph. The canvas takes
// no input, so that scrolling over it does not move it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../model/format-number.js';
import { GraphModel, type Subgraph } from '../model/graph-model.js';
import { comebacks, explore } from '../state/api.js';
import { linkTo } from '../state/router.js';
import { Legend } from './legend.js';
import { GraphRenderer } from './graph-renderer.js';
import type { CanvasContext } from './canvas-context.js';

const shownMax = 400;
const nothing = (): void => undefined;

export function GraphPreview() {
  const host = useRef<HTMLDivElement>(null);
  const context = useRef<CanvasContext | undefined>(undefined);
  const [version, redraw] = useState(0);
  // Requests the sample again when the server is back after an outage.
  useEffect(() => {
    const model = new GraphModel();
    const events = { onClick: nothing, onDouble: nothing, onGround: nothing, onRest: nothing };
    const renderer = new GraphRenderer(host.current!, model, events);
    context.current = { model, renderer, changed: nothing, showMessage: nothing, isInset: true };
    let isLeft = false;
    explore<Subgraph>('graph', { limit: shownMax })
      .then((subgraph) => {
        if (isLeft) return;
        model.add(subgraph, undefined, false);
        renderer.follow();
        redraw((n) => n + 1);
      })
      // Without a drawing, the numbers on the page have the same content.
      .catch(nothing);
    return () => {
      isLeft = true;
      renderer.close();
    };
  }, [comebacks.value]);
  const elements = context.current?.model.nodes.size ?? 0;
  return (
    <div class="preview">
      <div class="stage">
        <div ref={host} class="canvas" aria-hidden="true" />
      </div>
      <div class="caption">
        <a href={linkTo('graph')} data-nodes={elements}>
          {elements === 0 ? 'Open the graph' : `${counted(elements, 'element')} · open`}
        </a>
        <Legend context={context.current} version={version} />
      </div>
    </div>
  );
}
