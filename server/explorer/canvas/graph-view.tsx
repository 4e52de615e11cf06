// The canvas with its tools and the inspector: expand, collapse, hide, pin, shortest path, colors, export.
// Requests are limited in size, and the number of elements that are left out is shown.
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../model/format-number.js';
import { type CanvasStart, GraphModel, nodesMax } from '../model/graph-model.js';
import { comebacks, messageOf } from '../state/api.js';
import { schema } from '../state/program.js';
import { linkTo, setParams } from '../state/router.js';
import { HowTypesBegin } from '../components/loading-or-error.js';
import { listenForMarquee } from './marquee.js';
import { GraphRenderer } from './graph-renderer.js';
import {
  type Blank,
  beginWith,
  blankOf,
  colourOfStart,
  readInitialSubgraph,
} from './initial-elements.js';
import { chosenKey, expand, type CanvasContext, inAddress } from './canvas-context.js';
import { Inspector } from './inspector.js';
import { onCanvasKey } from './keyboard.js';
import { Legend } from './legend.js';
import { Tools } from './tools.js';

/** Increases when the server is back and the reply is still missing. */
function useTries(isMissing: boolean): number {
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (isMissing) setTries((count) => count + 1);
  }, [comebacks.value]);
  return tries;
}

const leftOutText = ({ left }: GraphModel): string =>
  `At most ${nodesMax} nodes are shown; ${left} are left out.`;

function useCanvas(start: CanvasStart, isInset: boolean) {
  const host = useRef<HTMLDivElement>(null);
  const context = useRef<CanvasContext | undefined>(undefined);
  const [message, showMessage] = useState('');
  /** Text of an empty canvas, shown once it is known to be empty. */
  const [blank, setBlank] = useState<Blank | undefined>();
  const [version, redraw] = useState(0);
  const tries = useTries(blank?.isError === true);
  useEffect(() => {
    const model = new GraphModel();
    // A reply that arrives after the canvas was left is ignored.
    let isLeft = false;
    const draw = (): void => redraw((n) => n + 1);
    const isChanged = (): void => {
      renderer.refresh();
      draw();
      noted();
    };
    const choose = (id: string, isMore: boolean): void => {
      model.choose(id, isMore);
      isChanged();
    };
    const noted = (): void => {
      // The graph of a result is a view of the result, so its address is that of the call.
      if (!isInset) setParams({ ...inAddress(context.current!), around: undefined });
    };
    const renderer = new GraphRenderer(host.current!, model, {
      onClick: choose,
      onDouble: (id) => void expand(context.current!, id, {}),
      onEdge: (id) => choose(id, false),
      onGround: () => {
        model.chosen.clear();
        isChanged();
      },
      onRest: draw,
      onDrop: noted,
    });
    const unlisten = listenForMarquee(host.current!, (box) => {
      for (const id of renderer.within(box)) model.chosen.add(id);
      isChanged();
    });
    const changed = (near?: string): void => {
      if (isLeft) return;
      renderer.follow(near);
      draw();
      if (model.left > 0) showMessage(leftOutText(model));
      noted();
    };
    context.current = { model, renderer, changed, showMessage, isInset };
    readInitialSubgraph(start)
      .then((subgraph) => {
        if (isLeft) return;
        showMessage(beginWith(model, renderer, start, subgraph));
        setBlank(model.nodes.size > 0 ? undefined : blankOf(start));
        renderer.colourBy = colourOfStart(start, model);
        renderer.follow();
        if (start.around !== undefined) noted();
        draw();
      })
      .catch((error: unknown) => {
        if (!isLeft) setBlank({ ...blankOf(start), why: messageOf(error), isError: true });
      });
    return () => {
      isLeft = true;
      unlisten();
      renderer.close();
    };
  }, [tries]);
  return { host, context: context.current, version, message, showMessage, blank };
}

export function GraphView({ start, isInset = false }: { start: CanvasStart; isInset?: boolean }) {
  const { host, context, version, message, showMessage, blank } = useCanvas(start, isInset);
  useEffect(() => {
    if (message === '') return undefined;
    const timer = setTimeout(() => showMessage(''), 5000);
    return () => clearTimeout(timer);
  }, [message]);
  const onKey = (event: KeyboardEvent): void => {
    if (context !== undefined && onCanvasKey(context, event)) event.preventDefault();
  };
  return (
    <div class={`graph ${isInset ? 'inset' : ''}`} onKeyDown={onKey}>
      <Tools context={context} version={version} />
      <div class="stage">
        <div
          ref={host}
          class="canvas"
          tabIndex={0}
          role="application"
          aria-label={`Graph with ${counted(context?.model.nodes.size ?? 0, 'element')}`}
        />
        {blank && (
          <div class="empty over">
            <h2>{blank.head}</h2>
            {schema.value?.length === 0 && !blank.isError ? <HowTypesBegin /> : <p>{blank.why}</p>}
            {blank.isLink && !isInset && (
              <p>
                <a href={linkTo('graph')}>Show a sample of the graph</a>
              </p>
            )}
          </div>
        )}
        <p class="said" role="status">
          {message}
        </p>
        <Legend context={context} version={version} />
      </div>
      {context !== undefined && (
        <Inspector key={chosenKey(context.model)} context={context} version={version} />
      )}
    </div>
  );
}
