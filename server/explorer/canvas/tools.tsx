// The tools of the canvas: layout, fit, undo, colors, export.
import { useState } from 'preact/hooks';
import { counted } from '../model/format-number.js';
import { nodesMax } from '../model/graph-model.js';
import { propertiesOf } from '../model/item.js';
import { CopyButton } from '../components/copy-code.js';
import { asJson, asPng, asSvg, save } from './export-image.js';
import { linkTo } from '../state/router.js';
import { type CanvasContext, type HandsProps, inAddress } from './canvas-context.js';

export function Tools({ hands, version }: HandsProps) {
  const [, redraw] = useState(0);
  const nodes = hands?.model.nodes.size ?? 0;
  const edges = hands?.model.edges.size ?? 0;
  const isRunning = hands?.picture.layout.isRunning === true;
  const toggle = (): void => {
    if (isRunning) hands!.picture.layout.stop();
    else hands!.picture.layout.start();
    redraw((n) => n + 1);
  };
  const undo = (): void => {
    hands!.model.undo();
    hands!.changed();
  };
  return (
    <div class="tools" role="toolbar" aria-label="Canvas">
      <span class="hint" data-nodes={nodes} data-edges={edges}>
        {counted(nodes, 'element')} · {counted(edges, 'edge')}
      </span>
      <ColourChoice
        hands={hands}
        version={version}
        changed={() => {
          redraw((n) => n + 1);
          hands!.changed();
        }}
      />
      <button type="button" class="small" disabled={hands === undefined} onClick={toggle}>
        {isRunning ? 'pause' : 'layout'}
      </button>
      <button type="button" class="small" onClick={() => hands?.picture.fit()}>
        fit
      </button>
      <button type="button" class="small" disabled={!hands?.model.canUndo} onClick={undo}>
        undo
      </button>
      <SaveButtons hands={hands} />
    </div>
  );
}

function SaveButtons({ hands }: { hands: CanvasContext | undefined }) {
  const paint = (): string => {
    const style = getComputedStyle(hands!.picture.host);
    return asSvg(hands!.picture, style.backgroundColor, style.color);
  };
  const link = (): string => {
    const { origin, pathname } = location;
    const params = Object.entries(inAddress(hands!, nodesMax)).filter(([, text]) => text !== '');
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
          save('graph.json', new Blob([asJson(hands!.model)], { type: 'application/json' }))
        }
      >
        JSON
      </button>
      <CopyButton name="link" text={link} />
    </>
  );
}

/** Chooses colors by type, or by the values of a property. */
export function ColourChoice({ hands, changed }: HandsProps & { changed: () => void }) {
  const names = new Set<string>();
  for (const item of [...(hands?.model.nodes.values() ?? [])].slice(0, 200)) {
    for (const [name] of propertiesOf(item)) names.add(name);
  }
  return (
    <select
      class="small"
      aria-label="Color by"
      value={hands?.picture.colourBy ?? ''}
      onChange={(event) => {
        hands!.picture.colourBy = event.currentTarget.value;
        hands!.picture.paint();
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
