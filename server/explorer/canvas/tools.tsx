// The tools of the canvas: layout, fit, undo, colors, export.
import { useState } from 'preact/hooks';
import { counted } from '../model/format-number.js';
import { nodesMax } from '../model/graph-model.js';
import { propertiesOf } from '../model/item.js';
import { CopyButton } from '../components/copy-code.js';
import { asJson, asPng, asSvg, save } from './export-image.js';
import { linkTo } from '../state/router.js';
import { type CanvasContext, type CanvasProps, inAddress } from './canvas-context.js';

export function Tools({ context, version }: CanvasProps) {
  const [, redraw] = useState(0);
  const nodes = context?.model.nodes.size ?? 0;
  const edges = context?.model.edges.size ?? 0;
  const isRunning = context?.renderer.layout.isRunning === true;
  const toggle = (): void => {
    if (isRunning) context!.renderer.layout.stop();
    else context!.renderer.layout.start();
    redraw((n) => n + 1);
  };
  const undo = (): void => {
    context!.model.undo();
    context!.changed();
  };
  return (
    <div class="tools" role="toolbar" aria-label="Canvas">
      <span class="hint" data-nodes={nodes} data-edges={edges}>
        {counted(nodes, 'element')} · {counted(edges, 'edge')}
      </span>
      <ColourChoice
        context={context}
        version={version}
        changed={() => {
          redraw((n) => n + 1);
          context!.changed();
        }}
      />
      <button type="button" class="small" disabled={context === undefined} onClick={toggle}>
        {isRunning ? 'pause' : 'layout'}
      </button>
      <button type="button" class="small" onClick={() => context?.renderer.fit()}>
        fit
      </button>
      <button type="button" class="small" disabled={!context?.model.canUndo} onClick={undo}>
        undo
      </button>
      <SaveButtons context={context} />
    </div>
  );
}

function SaveButtons({ context }: { context: CanvasContext | undefined }) {
  const paint = (): string => {
    const style = getComputedStyle(context!.renderer.host);
    return asSvg(context!.renderer, style.backgroundColor, style.color);
  };
  const link = (): string => {
    const { origin, pathname } = location;
    const params = Object.entries(inAddress(context!, nodesMax)).filter(([, text]) => text !== '');
    return `${origin}${pathname}${linkTo('graph', '', Object.fromEntries(params))}`;
  };
  return (
    <>
      <button
        type="button"
        class="small wide-only"
        onClick={() => save('graph.svg', new Blob([paint()], { type: 'image/svg+xml' }))}
      >
        SVG
      </button>
      <button
        type="button"
        class="small wide-only"
        onClick={() => void asPng(paint()).then((png) => save('graph.png', png))}
      >
        PNG
      </button>
      <button
        type="button"
        class="small wide-only"
        onClick={() =>
          save('graph.json', new Blob([asJson(context!.model)], { type: 'application/json' }))
        }
      >
        JSON
      </button>
      <CopyButton name="link" text={link} />
    </>
  );
}

/** Chooses colors by type, or by the values of a property. */
export function ColourChoice({ context, changed }: CanvasProps & { changed: () => void }) {
  const names = new Set<string>();
  for (const item of [...(context?.model.nodes.values() ?? [])].slice(0, 200)) {
    for (const [name] of propertiesOf(item)) names.add(name);
  }
  return (
    <select
      class="small"
      aria-label="Color by"
      value={context?.renderer.colourBy ?? ''}
      onChange={(event) => {
        context!.renderer.colourBy = event.currentTarget.value;
        context!.renderer.paint();
        changed();
      }}
    >
      <option value="">color: type</option>
      {[...names].map((name) => (
        <option key={name} value={name}>
          colour: {name}
        </option>
      ))}
    </select>
  );
}
