// Draws a graph model with sigma: nodes and edges in the colors of the theme. Owns the drawing and its
// layout. Invariant: this file never changes the model.
import Graph from 'graphology';
import Sigma from 'sigma';
import { colourOf, isHatched } from '../model/colour.js';
import { type ColourGroup, groupsBy } from '../model/colour-groups.js';
import type { GraphModel, Position } from '../model/graph-model.js';
import { type Item, titleOf } from '../model/item.js';
import { shortened } from '../model/short-text.js';
import { typePaletteIndexes } from '../state/program.js';
import { discs } from './node-style.js';
import { installHitTest } from './hit-test.js';
import { Layout } from './layout.js';

export interface CanvasEvents {
  onClick: (id: string, isWithShift: boolean) => void;
  onDouble: (id: string) => void;
  onEdge?: (id: string) => void;
  onGround: () => void;
  onRest: () => void;
  /** Called when the user has moved an element. */
  onDrop?: () => void;
}

/** Position on the canvas, in pixels. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A map is drawn as points of one size at fixed positions. Its edges are drawn only on request. */
export interface MapPositions {
  positions: ReadonlyMap<string, Position>;
}

const darkness = matchMedia('(prefers-color-scheme: dark)');

const pointSize = 3.5;
const litSize = 7;
const sizeMin = 5;
const sizeMax = 16;
/**
 * Maximum number of elements of which all are labeled. A larger graph labels only the larger elements.
 */
const fewNodes = 60;
const fewEdges = 60;
/**
 * Shorter side of the canvas in pixels above which nodes have their full size. Smaller canvases draw smaller
 * nodes.
 */
const fullSide = 930;
const scaleMin = 0.4;
const scaleMax = 0.75;
const labelledSize = 7;
const labelHeight = 14;
const labelMargin = 4;
/** Maximum number of edges that are drawn while the canvas moves. */
const fluidEdges = 2_000;
/** The golden angle: new nodes are placed around their neighbor without overlaps. */
const turn = 2.399963;

const titleMax = 36;

export class GraphRenderer {
  readonly graph = new Graph({ multi: true, allowSelfLoops: true });
  readonly sigma: Sigma;
  readonly layout: Layout;
  #under: Set<string> | undefined;
  #dragged: string | undefined;
  #isDark = darkness.matches;
  /** Positions of the labels of this frame. */
  #labels: { x: number; y: number; right: number }[] = [];
  /** Controls above the canvas, which labels must not overlap. */
  #legend: Box | undefined;
  /** Highlighted elements; undefined for none. */
  #lit: ReadonlySet<string> | undefined;
  /** Last positions of removed elements. */
  readonly #left = new Map<string, Position>();
  colourBy = '';
  /** Groups of the property that determines the colors, if there is one. */
  groups: ColourGroup[] = [];

  constructor(
    readonly host: HTMLElement,
    private readonly model: GraphModel,
    events: CanvasEvents,
    private readonly map?: MapPositions,
  ) {
    this.sigma = new Sigma(this.graph, host, {
      allowInvalidContainer: true,
      defaultEdgeType: map === undefined ? 'arrow' : 'line',
      renderEdgeLabels: false,
      labelFont: 'system-ui, "DejaVu Sans", sans-serif',
      labelSize: 12,
      edgeLabelSize: 12,
      labelDensity: 0.5,
      labelGridCellSize: 120,
      minCameraRatio: 0.02,
      maxCameraRatio: 8,
      zIndex: true,
      nodeProgramClasses: discs,
      nodeReducer: (id, data) => this.#showNode(id, data),
      edgeReducer: (id, data) => this.#showEdge(id, data),
      defaultDrawNodeLabel: (context, data) => this.#drawLabel(context, data),
      defaultDrawNodeHover: (context, data) => this.#drawHover(context, data),
    });
    installHitTest(this.sigma);
    this.layout = new Layout(this.graph, events.onRest);
    if (map === undefined) this.layout.prepare();
    this.#takeTheme();
    darkness.addEventListener('change', this.#takeTheme);
    this.sigma.on('beforeRender', () => {
      this.#labels = [];
      this.#legend = this.#legendBox();
    });
    this.#listen(events);
  }

  /** The system theme can change while the page is open. */
  readonly #takeTheme = (): void => {
    this.#isDark = darkness.matches;
    const { sigma, graph } = this;
    sigma.setSetting('labelColor', { color: this.#ink() });
    sigma.setSetting('edgeLabelColor', { color: this.#isDark ? '#9aa5a2' : '#59625f' });
    graph.updateEachEdgeAttributes((_, attributes) => ({
      ...attributes,
      color: this.#edgeColor(),
    }));
    if (graph.order > 0) this.paint();
  };

  /** Edges of a map show similarity and have no direction. */
  get isMap(): boolean {
    return this.map !== undefined;
  }

  #ink(): string {
    return this.#isDark ? '#e6e9e8' : '#1c2120';
  }

  #edgeColor(): string {
    return this.#isDark ? '#4a5451' : '#c3c8c5';
  }

  /** Returns the elements within a rectangle of the canvas. */
  within({ left, top, right, bottom }: Box): string[] {
    const { graph, sigma } = this;
    return graph.nodes().filter((id) => {
      const position = graph.getNodeAttributes(id) as { x: number; y: number };
      const { x, y } = sigma.graphToViewport(position);
      return x >= left && x <= right && y >= top && y <= bottom;
    });
  }

  #listen({ onClick, onDouble, onEdge, onGround, onDrop }: CanvasEvents): void {
    const { sigma, graph } = this;
    sigma.on('clickNode', ({ node, event }) => {
      onClick(node, (event.original as MouseEvent).shiftKey);
    });
    sigma.on('doubleClickNode', ({ node, event }) => {
      event.preventSigmaDefault();
      onDouble(node);
    });
    sigma.on('clickEdge', ({ edge }) => onEdge?.(edge));
    sigma.on('enterEdge', () => {
      this.host.style.cursor = 'pointer';
    });
    sigma.on('leaveEdge', () => {
      this.host.style.cursor = '';
    });
    sigma.on('clickStage', onGround);
    sigma.on('enterNode', ({ node }) => this.#light(node));
    sigma.on('leaveNode', () => this.#light(undefined));
    sigma.on('downNode', ({ node }) => {
      this.#dragged = node;
      if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox());
    });
    sigma.on('moveBody', ({ event }) => {
      if (this.#dragged === undefined) return;
      const { x, y } = sigma.viewportToGraph(event);
      graph.mergeNodeAttributes(this.#dragged, { x, y });
      event.preventSigmaDefault();
      event.original.preventDefault();
    });
    const drop = (): void => {
      if (this.#dragged !== undefined) onDrop?.();
      this.#dragged = undefined;
      sigma.setCustomBBox(null);
    };
    sigma.on('upNode', drop);
    sigma.on('upStage', drop);
  }

  #light(node: string | undefined): void {
    if (this.#dragged !== undefined) return;
    this.#under = node === undefined ? undefined : this.model.neighboursOf(node);
    this.host.style.cursor = node === undefined ? '' : 'pointer';
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Highlights these elements; undefined for none. */
  light(ids: Iterable<string> | undefined): void {
    this.#lit = ids === undefined ? undefined : new Set(ids);
    this.refresh();
  }

  #dimmed(): string {
    return this.#isDark ? '#2a302f' : '#e4e4e0';
  }

  #showNode(id: string, data: Record<string, unknown>): Record<string, unknown> {
    const isFar = this.#under !== undefined && !this.#under.has(id);
    if (isFar) return { ...data, color: this.#dimmed(), label: '', zIndex: 0 };
    const isChosen = this.model.chosen.has(id);
    const isNear = this.#under !== undefined;
    const isLit = this.#lit?.has(id) === true;
    if (this.#lit !== undefined && !isLit && !isChosen && !isNear) {
      return { ...data, color: this.#dimmed(), label: '', zIndex: 0 };
    }
    return {
      ...data,
      ...(this.map && (isLit || isChosen) && { size: litSize }),
      highlighted: isChosen,
      forceLabel: isChosen || isNear,
      zIndex: isChosen ? 2 : 1,
    };
  }

  #showEdge(id: string, data: Record<string, unknown>): Record<string, unknown> {
    if (this.#under === undefined) {
      if (this.model.chosen.has(id)) return { ...data, color: this.#ink(), size: 2, zIndex: 1 };
      return this.map === undefined || this.#isAtChosen(id) ? data : { ...data, hidden: true };
    }
    const [from, to] = this.graph.extremities(id);
    const isNear = this.#under.has(from) && this.#under.has(to);
    return isNear ? { ...data, forceLabel: true } : { ...data, hidden: true };
  }

  #isAtChosen(edge: string): boolean {
    const { chosen } = this.model;
    return chosen.size > 0 && this.graph.extremities(edge).some((end) => chosen.has(end));
  }

  /**
   * Draws a label with an outline in the background color, so that it is readable over nodes. In a large
   * graph a label that would overlap another is not drawn, unless it was requested.
   */
  #drawLabel(context: CanvasRenderingContext2D, data: Record<string, unknown>): void {
    const { y, size, label } = data as { y: number; size: number; label?: string };
    if (!label) return;
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    const { width } = context.measureText(label);
    const left = this.#labelLeft(data, size, width);
    const right = left + width;
    const isTaken = this.#labels.some(
      (other) => Math.abs(other.y - y) < labelHeight && other.x < right && left < other.right,
    );
    if (isTaken && !data.forceLabel && this.graph.order > fewNodes) return;
    this.#labels.push({ x: left, y, right });
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = this.#isDark ? '#121514' : '#f7f7f5';
    context.strokeText(label, left, y + 4);
    context.fillStyle = this.#ink();
    context.fillText(label, left, y + 4);
  }

  /**
   * Places a label at the right of its element. If the canvas or the legend leaves too little space, it
   * is at the left, or else over the element.
   */
  #labelLeft(data: Record<string, unknown>, size: number, width: number): number {
    const { x, y } = data as { x: number; y: number };
    const left = x + size + 3;
    const { host } = this;
    const { left: end, top } = this.#legend ?? { left: host.clientWidth, top: host.clientHeight };
    const isNextToLegend = y > top - labelHeight && x < end;
    const rightMax = isNextToLegend ? end : host.clientWidth;
    if (left + width <= rightMax) return left;
    const before = x - size - 3 - width;
    return before > 0 ? before : Math.max(0, Math.min(left, rightMax - width - labelMargin));
  }

  #legendBox(): Box | undefined {
    const legend = this.host.parentElement?.querySelector<HTMLElement>('.legend');
    if (!legend) return undefined;
    const { offsetLeft: left, offsetTop: top, offsetWidth, offsetHeight } = legend;
    return { left, top, right: left + offsetWidth, bottom: top + offsetHeight };
  }

  /** Draws a label on a background that fits the theme, instead of sigma's white one. */
  #drawHover(context: CanvasRenderingContext2D, data: Record<string, unknown>): void {
    const { x, y, size } = data as { x: number; y: number; size: number };
    const label = String(data.label ?? '');
    context.font = '600 12px system-ui, "DejaVu Sans", sans-serif';
    context.beginPath();
    context.arc(x, y, size + 3, 0, 2 * Math.PI);
    context.strokeStyle = this.#ink();
    context.lineWidth = 2;
    context.stroke();
    if (label === '') return;
    const { width } = context.measureText(label);
    const left = this.#labelLeft(data, size + 5, width);
    context.fillStyle = this.#isDark ? '#1a1e1dee' : '#ffffffee';
    context.beginPath();
    context.roundRect(left - 6, y - 11, width + 12, 22, 4);
    context.fill();
    context.fillStyle = this.#ink();
    context.fillText(label, left, y + 4);
  }

  positionOf(id: string): Position {
    const { x, y } = this.graph.getNodeAttributes(id) as { x: number; y: number };
    return { x, y };
  }

  /** Sets where an element will appear that is added later. */
  presetPosition(id: string, position: Position): void {
    this.#left.set(id, position);
  }

  /** Updates the drawing from the model. New nodes appear next to `near`. */
  follow(near?: string): void {
    const { graph, model } = this;
    for (const id of graph.nodes()) {
      if (model.nodes.has(id)) continue;
      this.#left.set(id, this.positionOf(id));
      graph.dropNode(id);
    }
    let fresh = 0;
    for (const { id } of model.nodes.values()) {
      if (graph.hasNode(id)) continue;
      // An element that returns gets its former position.
      graph.addNode(id, this.#left.get(id) ?? this.#initialPosition(near, fresh++, id));
    }
    for (const id of graph.edges()) if (!model.edges.has(id)) graph.dropEdge(id);
    for (const edge of model.edges.values()) {
      if (graph.hasEdge(edge.id)) continue;
      graph.addDirectedEdgeWithKey(edge.id, edge.from_node!, edge.to_node!, {
        label: edge.label,
        size: 1,
        color: this.#edgeColor(),
      });
    }
    // Sigma must know new elements before changes of them.
    this.sigma.refresh();
    this.paint();
    if (fresh > 0) this.layout.start();
  }

  #initialPosition(near: string | undefined, at: number, id?: string): { x: number; y: number } {
    const { graph } = this;
    const known = id === undefined ? undefined : this.map?.positions.get(id);
    if (known !== undefined) return { ...known };
    const centre =
      near !== undefined && graph.hasNode(near)
        ? (graph.getNodeAttributes(near) as { x: number; y: number })
        : { x: 0, y: 0 };
    const radius = (near === undefined ? 10 : 2) * Math.sqrt(at + 1);
    return {
      x: centre.x + radius * Math.cos(at * turn),
      y: centre.y + radius * Math.sin(at * turn),
    };
  }

  #scale(): number {
    const { clientWidth, clientHeight } = this.host;
    const share = Math.min(clientWidth, clientHeight) / fullSide;
    return Math.min(scaleMax, Math.max(scaleMin, share));
  }

  /** Sets the color, size and label of every element. */
  paint(): void {
    const { graph, model } = this;
    const paletteIndexOf = this.#groupByColour();
    const scale = graph.order <= fewNodes ? 1 : this.#scale();
    graph.updateEachNodeAttributes((id, attributes) => {
      const item = model.nodes.get(id)!;
      const size =
        this.map === undefined
          ? scale * Math.min(sizeMax, sizeMin + 1.5 * Math.sqrt(graph.degree(id)))
          : pointSize;
      const isPinned = model.pinned.has(id);
      const label = `${isPinned ? '⚲ ' : ''}${shortened(titleOf(item), titleMax)}`;
      const paletteIndex = paletteIndexOf(item);
      return {
        ...attributes,
        size,
        label,
        color: colourOf(paletteIndex, this.#isDark),
        type: isHatched(paletteIndex) ? 'hatched' : 'circle',
        fixed: isPinned,
      };
    });
    const isSmall = graph.order <= fewNodes && this.map === undefined;
    this.sigma.setSetting('renderEdgeLabels', graph.size <= fewEdges && this.map === undefined);
    // The edge under the pointer is found by a scan of all edges.
    this.sigma.setSetting('enableEdgeEvents', this.map === undefined && graph.size <= fluidEdges);
    // Many edges take a slow machine the longest to draw, so they are drawn when the pointer rests.
    this.sigma.setSetting('hideEdgesOnMove', graph.size > fluidEdges);
    const labelThreshold = this.map === undefined ? (labelledSize * scale) / scaleMax : litSize + 1;
    this.sigma.setSetting('labelRenderedSizeThreshold', isSmall ? 0 : labelThreshold);
  }

  #groupByColour(): (item: Item) => number | undefined {
    this.groups = [];
    if (this.colourBy === '') return ({ label }) => typePaletteIndexes.value.get(label);
    const { groups, paletteIndexOf } = groupsBy([...this.model.nodes.values()], this.colourBy);
    this.groups = groups;
    return paletteIndexOf;
  }

  fit(): void {
    void this.sigma.getCamera().animatedReset({ duration: 200 });
  }

  refresh(): void {
    this.sigma.refresh({ skipIndexation: true });
  }

  close(): void {
    darkness.removeEventListener('change', this.#takeTheme);
    this.layout.close();
    this.sigma.kill();
  }
}
