// The map of a vector type. Points start on the principal axes, and those that the index finds near are
// pulled together. A click shows the element and its neighbors with their scores, never the numbers.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { GraphModel, type Subgraph } from '../model/graph-model.js';
import type { Item } from '../model/item.js';
import { type VectorMap, neighboursOf, initialPositions } from '../model/vector-map.js';
import { explore, messageOf } from '../state/api.js';
import { setParams } from '../state/router.js';
import { colourOfStart } from './initial-elements.js';
import type { CanvasContext } from './canvas-context.js';
import { asSvg, save } from './export-image.js';
import { Legend } from './legend.js';
import { MapInspector } from './map-inspector.js';
import { GraphRenderer } from './graph-renderer.js';
import { ColourChoice } from './tools.js';

export interface MapProps {
  type: string;
  map: VectorMap;
  /** Ids of the search results; undefined without a search. */
  hits: readonly string[] | undefined;
  /** The point in the address. */
  at: string | undefined;
  /** The property in the address that determines the colors. */
  colour: string;
}

/** A model of the points without their elements, which are loaded later. */
function modelOf(type: string, { points, edges }: VectorMap): GraphModel {
  const model = new GraphModel();
  const nodes = points.map(({ id }): Item => ({ id, label: type }));
  const pairs = edges.map(
    ([from, to], at): Item => ({
      id: String(at),
      label: 'near',
      from_node: points[from]!.id,
      to_node: points[to]!.id,
    }),
  );
  model.add({ nodes, edges: pairs }, undefined, false);
  return model;
}

function useMap({ type, map, at, colour }: MapProps) {
  const host = useRef<HTMLDivElement>(null);
  const context = useRef<CanvasContext | undefined>(undefined);
  const [version, redraw] = useState(0);
  const [message, showMessage] = useState('');
  useEffect(() => {
    const model = modelOf(type, map);
    let isLeft = false;
    const draw = (): void => redraw((n) => n + 1);
    const choose = (id: string | undefined): void => {
      model.chosen.clear();
      if (id !== undefined && model.nodes.has(id)) model.chosen.add(id);
      renderer.refresh();
      setParams({ at: id });
      draw();
    };
    const events = {
      onClick: choose,
      onDouble: choose,
      onGround: () => choose(undefined),
      onRest: draw,
    };
    const renderer = new GraphRenderer(host.current!, model, events, {
      positions: initialPositions(map),
    });
    context.current = { model, renderer, changed: draw, showMessage, isInset: false };
    renderer.follow();
    if (at !== undefined) choose(at);
    draw();
    explore<Subgraph>('graph', { ids: map.points.map(({ id }) => id) })
      .then(({ nodes }) => {
        if (isLeft) return;
        for (const item of nodes) if (model.nodes.has(item.id)) model.nodes.set(item.id, item);
        renderer.colourBy = colourOfStart({ colourBy: colour }, model);
        renderer.paint();
        draw();
      })
      .catch((error: unknown) => showMessage(messageOf(error)));
    return () => {
      isLeft = true;
      renderer.close();
    };
  }, [map]);
  return { host, context: context.current, version, message, redraw };
}

export function MapView(props: MapProps) {
  const { map, hits, at } = props;
  const { host, context, version, message, redraw } = useMap(props);
  const near = useMemo(() => neighboursOf(map), [map]);
  useEffect(() => context?.renderer.light(hits), [context, hits?.join()]);
  const chosen = at === undefined ? undefined : context?.model.nodes.get(at);
  const choose = (id: string): void => {
    context!.model.chosen.clear();
    context!.model.chosen.add(id);
    context!.renderer.refresh();
    setParams({ at: id });
  };
  const recoloured = (): void => {
    redraw((n) => n + 1);
    setParams({ by: context?.renderer.colourBy });
  };
  return (
    <div class="graph" data-points={map.points.length}>
      <MapTools context={context} version={version} changed={recoloured} />
      <div class="stage">
        <div
          ref={host}
          class="canvas"
          tabIndex={0}
          role="application"
          aria-label={`Map of ${map.points.length} vectors`}
        />
        <p class="said" role="status">
          {message}
        </p>
        <Legend context={context} version={version} />
      </div>
      {context !== undefined && chosen !== undefined && (
        <MapInspector
          item={chosen}
          near={near.get(chosen.id) ?? []}
          itemOf={(id) => context.model.nodes.get(id)}
          choose={choose}
        />
      )}
    </div>
  );
}

function MapTools(props: {
  context: CanvasContext | undefined;
  version: number;
  changed: () => void;
}) {
  const { context, version, changed } = props;
  const isRunning = context?.renderer.layout.isRunning === true;
  const toggle = (): void => {
    if (isRunning) context!.renderer.layout.stop();
    else context!.renderer.layout.start();
    changed();
  };
  return (
    <div class="tools" role="toolbar" aria-label="Map">
      <span class="hint">vectors that the index finds near each other are close together</span>
      <ColourChoice context={context} version={version} changed={changed} />
      <button type="button" class="small" disabled={context === undefined} onClick={toggle}>
        {isRunning ? 'pause' : 'layout'}
      </button>
      <button type="button" class="small" onClick={() => context?.renderer.fit()}>
        fit
      </button>
      <SaveMap context={context} />
    </div>
  );
}

function SaveMap({ context }: { context: CanvasContext | undefined }) {
  const paint = (): void => {
    const style = getComputedStyle(context!.renderer.host);
    const svg = asSvg(context!.renderer, style.backgroundColor, style.color);
    save('map.svg', new Blob([svg], { type: 'image/svg+xml' }));
  };
  return (
    <button type="button" class="small wide-only" disabled={context === undefined} onClick={paint}>
      SVG
    </button>
  );
}
