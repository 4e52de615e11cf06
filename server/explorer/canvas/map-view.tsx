// The map of a vector type. Points start on the principal axes, and those that the index finds near are
// pulled together. A click shows the element and its neighbors with their scores, never the numbers.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { GraphModel, type Piece } from '../model/graph-model.js';
import type { Item } from '../model/item.js';
import { type VectorMap, neighboursOf, placesOf } from '../model/vector-map.js';
import { look, messageOf } from '../state/api.js';
import { setParams } from '../state/router.js';
import { colourOfStart } from './initial-elements.js';
import type { CanvasContext } from './canvas-context.js';
import { asSvg, save } from './export-image.js';
import { Legend } from './legend.js';
import { MapInspector } from './map-inspector.js';
import { Picture } from './graph-renderer.js';
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
  const hands = useRef<CanvasContext | undefined>(undefined);
  const [version, redraw] = useState(0);
  const [message, say] = useState('');
  useEffect(() => {
    const model = modelOf(type, map);
    let isLeft = false;
    const draw = (): void => redraw((n) => n + 1);
    const choose = (id: string | undefined): void => {
      model.chosen.clear();
      if (id !== undefined && model.nodes.has(id)) model.chosen.add(id);
      picture.refresh();
      setParams({ at: id });
      draw();
    };
    const events = {
      onClick: choose,
      onDouble: choose,
      onGround: () => choose(undefined),
      onRest: draw,
    };
    const picture = new Picture(host.current!, model, events, { places: placesOf(map) });
    hands.current = { model, picture, changed: draw, say, isInset: false };
    picture.follow();
    if (at !== undefined) choose(at);
    draw();
    look<Piece>('graph', { ids: map.points.map(({ id }) => id) })
      .then(({ nodes }) => {
        if (isLeft) return;
        for (const item of nodes) if (model.nodes.has(item.id)) model.nodes.set(item.id, item);
        picture.colourBy = colourOfStart({ colourBy: colour }, model);
        picture.paint();
        draw();
      })
      .catch((error: unknown) => say(messageOf(error)));
    return () => {
      isLeft = true;
      picture.close();
    };
  }, [map]);
  return { host, hands: hands.current, version, message, redraw };
}

export function MapView(props: MapProps) {
  const { map, hits, at } = props;
  const { host, hands, version, message, redraw } = useMap(props);
  const near = useMemo(() => neighboursOf(map), [map]);
  useEffect(() => hands?.picture.light(hits), [hands, hits?.join()]);
  const chosen = at === undefined ? undefined : hands?.model.nodes.get(at);
  const choose = (id: string): void => {
    hands!.model.chosen.clear();
    hands!.model.chosen.add(id);
    hands!.picture.refresh();
    setParams({ at: id });
  };
  const recoloured = (): void => {
    redraw((n) => n + 1);
    setParams({ by: hands?.picture.colourBy });
  };
  return (
    <div class="graph" data-points={map.points.length}>
      <MapTools hands={hands} version={version} changed={recoloured} />
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
        <Legend hands={hands} version={version} />
      </div>
      {hands !== undefined && chosen !== undefined && (
        <MapInspector
          item={chosen}
          near={near.get(chosen.id) ?? []}
          itemOf={(id) => hands.model.nodes.get(id)}
          choose={choose}
        />
      )}
    </div>
  );
}

function MapTools(props: {
  hands: CanvasContext | undefined;
  version: number;
  changed: () => void;
}) {
  const { hands, version, changed } = props;
  const isRunning = hands?.picture.layout.isRunning === true;
  const toggle = (): void => {
    if (isRunning) hands!.picture.layout.stop();
    else hands!.picture.layout.start();
    changed();
  };
  return (
    <div class="tools" role="toolbar" aria-label="Map">
      <span class="hint">vectors that the index finds near each other are close together</span>
      <ColourChoice hands={hands} version={version} changed={changed} />
      <button type="button" class="small" disabled={hands === undefined} onClick={toggle}>
        {isRunning ? 'pause' : 'layout'}
      </button>
      <button type="button" class="small" onClick={() => hands?.picture.fit()}>
        fit
      </button>
      <SaveMap hands={hands} />
    </div>
  );
}

function SaveMap({ hands }: { hands: CanvasContext | undefined }) {
  const paint = (): void => {
    const style = getComputedStyle(hands!.picture.host);
    const svg = asSvg(hands!.picture, style.backgroundColor, style.color);
    save('map.svg', new Blob([svg], { type: 'image/svg+xml' }));
  };
  return (
    <button type="button" class="small wide-only" disabled={hands === undefined} onClick={paint}>
      SVG
    </button>
  );
}
