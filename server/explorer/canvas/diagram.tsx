// Types as boxes and edge types as arrows between them, laid out by dagre and drawn as SVG.
import dagre from '@dagrejs/dagre';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { whole } from '../model/format-number.js';
import type { SchemaType } from '../model/status.js';
import { linkTo } from '../state/router.js';
import type { Marks } from '../model/property-marks.js';
import { save, withStyles } from './export-image.js';

const row = 18;
const head = 30;
const letter = 7;
const propertiesMax = 8;
const loopRoom = 32;
const widthMax = 320;
/** Width of the outline of a label, and distance of the label from its curve. */
const labelRoom = 16;

interface Box {
  type: SchemaType;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Line {
  name: string;
  path: string;
  x: number;
  y: number;
}

/** Text after the name of a property. */
const markOf = (marks: Marks, type: string, property: string): string =>
  marks.get(type)?.get(property)?.join(' ') ?? '';

function sizeOf({ name, properties }: SchemaType, marks: Marks): { width: number; height: number } {
  const lines = properties
    .slice(0, propertiesMax)
    .map((one) => `${one.name} ${markOf(marks, name, one.name)}  ${one.type}`);
  const longest = Math.max(name.length + 8, ...lines.map((line) => line.length));
  const shown = Math.min(properties.length, propertiesMax + 1);
  return { width: Math.min(widthMax, longest * letter + 24), height: head + shown * row + 8 };
}

function layOut(types: readonly SchemaType[], marks: Marks, titleOf: (name: string) => string) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: 'LR',
    nodesep: 24,
    ranksep: 72,
    edgesep: 12,
    marginx: 12,
    marginy: 12,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const boxes = types.filter(({ kind }) => kind !== 'edge');
  const names = new Set(boxes.map(({ name }) => name));
  for (const type of boxes) graph.setNode(type.name, sizeOf(type, marks));
  for (const { name, from, to } of types) {
    if (from === undefined || to === undefined || !names.has(from) || !names.has(to)) continue;
    if (from === to) continue;
    const width = titleOf(name).length * letter + labelRoom;
    graph.setEdge(from, to, { width, height: 16, labelpos: 'c' }, name);
  }
  dagre.layout(graph);
  const placed = boxes.map((type): Box => {
    const { x, y, width, height } = graph.node(type.name) as Box;
    return { type, x: x - width / 2, y: y - height / 2, width, height };
  });
  const across = graph.edges().map((edge): Line => {
    const { points, x, y } = graph.edge(edge) as {
      points: { x: number; y: number }[];
      x: number;
      y: number;
    };
    const path = points.map(
      (p, at) => `${at === 0 ? 'M' : 'L'}${p.x.toFixed(1)} ${p.y.toFixed(1)}`,
    );
    return { name: edge.name!, path: path.join(''), x, y };
  });
  const lines = [...across, ...loopsOf(types, placed, titleOf)];
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { placed, lines, width, height: height + loopRoom };
}

/** Edge types from a type to itself are drawn below its box, next to each other. */
function loopsOf(
  types: readonly SchemaType[],
  placed: readonly Box[],
  titleOf: (name: string) => string,
): Line[] {
  return placed.flatMap(({ type, x, y, width, height }) => {
    const own = types.filter(({ from, to }) => from === type.name && to === type.name);
    return own.map(({ name }, at): Line => {
      const [left, foot] = [x + width - 44 - at * 12, y + height];
      const low = foot + 22 + at * 16;
      const path = `M${left} ${foot}C${left} ${low} ${left + 24} ${low} ${left + 24} ${foot + 2}`;
      return { name, path, x: left - 2 - (titleOf(name).length * letter) / 2, y: low - 6 };
    });
  });
}

interface DiagramProps {
  types: SchemaType[];
  counts: ReadonlyMap<string, number>;
  marks: Marks;
  chosen: string;
}

/**
 * Scrolls a selected type that is outside of the view to the middle of the diagram. The page does not
 * scroll.
 */
function useInView(svg: RefObject<SVGSVGElement | null>, chosen: string, placed: unknown): void {
  useEffect(() => {
    const view = svg.current?.parentElement;
    const mark = svg.current?.querySelector('.chosen');
    if (!view || !mark) return;
    const [outer, inner] = [view.getBoundingClientRect(), mark.getBoundingClientRect()];
    const isOut =
      inner.left < outer.left ||
      inner.right > outer.right ||
      inner.top < outer.top ||
      inner.bottom > outer.bottom;
    if (!isOut) return;
    view.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
    view.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2;
  }, [chosen, placed]);
}

export function Diagram({ types, counts, marks, chosen }: DiagramProps) {
  const countOf = (name: string): string => {
    const count = counts.get(`edge ${name}`);
    return count === undefined ? '' : whole(count);
  };
  // The width fits the present counts with one more digit, so that growing counts move nothing.
  const { placed, lines, width, height } = useMemo(
    () => layOut(types, marks, (name) => `${name} ${countOf(name)}`),
    [types, marks],
  );
  const svg = useRef<SVGSVGElement>(null);
  useInView(svg, chosen, placed);
  const saveSvg = (): void => {
    save('schema.svg', new Blob([withStyles(svg.current!)], { type: 'image/svg+xml' }));
  };
  return (
    <figure class={`diagram card ${chosen === '' ? '' : 'narrowed'}`}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Diagram of the types">
        <svg
          ref={svg}
          xmlns="http://www.w3.org/2000/svg"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          font-family="system-ui, sans-serif"
          font-size="12"
        >
          <Tip />
          {lines.map(({ name, path, x, y }) => (
            <a key={name} href={linkTo('schema', name)}>
              <path
                d={path}
                class={`wire ${chosen === name ? 'chosen' : ''}`}
                marker-end="url(#tip)"
              />
              <text x={x} y={y + 4} text-anchor="middle" class="wire-name">
                {name} <tspan class="wire-count">{countOf(name)}</tspan>
              </text>
            </a>
          ))}
          {placed.map((box) => (
            <TypeBox
              key={box.type.name}
              box={box}
              isChosen={chosen === box.type.name}
              marks={marks}
              count={counts.get(`${box.type.kind} ${box.type.name}`)}
            />
          ))}
        </svg>
      </div>
      <figcaption>
        <button type="button" class="small" onClick={saveSvg}>
          save as SVG
        </button>
      </figcaption>
    </figure>
  );
}

/** The head of an arrow. */
const Tip = () => (
  <defs>
    <marker
      id="tip"
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="7"
      markerHeight="7"
      orient="auto"
    >
      <path d="M0 0L8 4L0 8z" class="tip" />
    </marker>
  </defs>
);

interface TypeBoxProps {
  box: Box;
  isChosen: boolean;
  marks: Marks;
  count: number | undefined;
}

function TypeBox({ box, isChosen, marks, count }: TypeBoxProps) {
  const { type, x, y, width, height } = box;
  const { name, kind, properties } = type;
  return (
    <a href={linkTo('schema', name)}>
      <g class={`box ${isChosen ? 'chosen' : ''}`} transform={`translate(${x} ${y})`}>
        <rect width={width} height={height} rx={kind === 'vector' ? 20 : 6} />
        <text x="12" y="20" class="box-name">
          {name}
        </text>
        <text x={width - 12} y="20" text-anchor="end" class="box-count">
          {count === undefined ? '' : whole(count)}
        </text>
        {properties.slice(0, propertiesMax).map((property, at) => (
          <g key={property.name}>
            <text x="12" y={head + 12 + at * row}>
              {property.name} <tspan class="box-type">{markOf(marks, name, property.name)}</tspan>
            </text>
            <text x={width - 12} y={head + 12 + at * row} text-anchor="end" class="box-type">
              {property.type}
            </text>
          </g>
        ))}
        {properties.length > propertiesMax && (
          <text x="12" y={head + 12 + propertiesMax * row} class="box-type">
            and {properties.length - propertiesMax} more
          </text>
        )}
      </g>
    </a>
  );
}
