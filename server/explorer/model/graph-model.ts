// The content of the canvas: elements, which of them are hidden, pinned or selected, and the steps that added
// them, so that each step can be undone. Invariant: an edge is drawn only between two elements that are
// present, and there are never more than `nodesMax` elements. Pure.
import { type Item, isEdge } from './item.js';

export const nodesMax = 5_000;
const edgesMax = 20_000;

/** Position in the coordinates of the layout. */
export interface Position {
  x: number;
  y: number;
}

/** Initial content of a canvas: these elements, the neighborhood of one, or a sample. */
export interface CanvasStart {
  ids?: string[];
  around?: string;
  chosen?: string[];
  /** Property that determines the colors. */
  colourBy?: string;
  /** Pinned elements and their positions. */
  pinned?: ReadonlyMap<string, Position>;
}

export interface Subgraph {
  nodes: Item[];
  edges: Item[];
}

export interface Step {
  /** Elements that the step added, or removed with `isRemoval`. */
  nodes: Item[];
  edges: Item[];
  isRemoval: boolean;
  /** The element whose neighbors were added. */
  of: string | undefined;
  /** Expansions that a removal undid, and their pinned elements. */
  collapsed?: Step[];
  pinned?: string[];
}

export class GraphModel {
  readonly nodes = new Map<string, Item>();
  readonly edges = new Map<string, Item>();
  readonly pinned = new Set<string>();
  readonly chosen = new Set<string>();
  readonly #steps: Step[] = [];
  /** Elements that did not fit. */
  left = 0;

  /**
   * Selects an element. `isMore`: adds it to the selection, or removes it. An edge is always selected alone.
   */
  choose(id: string, isMore: boolean): void {
    const isAlone = !isMore || [...this.chosen].some((one) => this.edges.has(one));
    if (isAlone) this.chosen.clear();
    if (isMore && this.chosen.has(id)) this.chosen.delete(id);
    else this.chosen.add(id);
  }

  get canUndo(): boolean {
    return this.#steps.length > 0;
  }

  /** Adds new elements as one step. `of`: the element that was expanded. */
  add({ nodes, edges }: Subgraph, of?: string, isStep = true): Step | undefined {
    const fresh = nodes.filter(({ id }) => !this.nodes.has(id));
    const added = fresh.slice(0, nodesMax - this.nodes.size);
    this.left = fresh.length - added.length;
    for (const node of added) this.nodes.set(node.id, node);
    const joined = edges.filter((edge) => this.#fits(edge));
    for (const edge of joined) this.edges.set(edge.id, edge);
    if (!isStep || added.length + joined.length === 0) return undefined;
    const step: Step = { nodes: added, edges: joined, isRemoval: false, of };
    this.#steps.push(step);
    return step;
  }

  /**
   * Adds edges between present elements to the step that added their endpoints. Returns whether any edge
   * is new.
   */
  join(edges: readonly Item[], step: Step | undefined): boolean {
    const joined = edges.filter((edge) => this.#fits(edge));
    for (const edge of joined) this.edges.set(edge.id, edge);
    step?.edges.push(...joined);
    return joined.length > 0;
  }

  #fits(edge: Item): boolean {
    if (!isEdge(edge) || this.edges.has(edge.id) || this.edges.size >= edgesMax) return false;
    return this.nodes.has(edge.from_node!) && this.nodes.has(edge.to_node!);
  }

  /** Hides elements and their edges. The data do not change. */
  hide(ids: Iterable<string>): void {
    const hidden = new Set(ids);
    const nodes = [...hidden].flatMap((id) => this.nodes.get(id) ?? []);
    if (nodes.length === 0) return;
    const edges = this.#edgesAt(hidden);
    const pinned = nodes.flatMap(({ id }) => (this.pinned.has(id) ? [id] : []));
    this.#drop(nodes, edges);
    this.#steps.push({ nodes, edges, isRemoval: true, of: undefined, pinned });
  }

  #edgesAt(ids: ReadonlySet<string>): Item[] {
    return [...this.edges.values()].filter(
      ({ from_node, to_node }) => ids.has(from_node!) || ids.has(to_node!),
    );
  }

  #drop(nodes: readonly Item[], edges: readonly Item[]): void {
    for (const { id } of edges) this.edges.delete(id);
    for (const { id } of nodes) {
      this.nodes.delete(id);
      this.chosen.delete(id);
      this.pinned.delete(id);
    }
  }

  undo(): void {
    const step = this.#steps.pop();
    if (step === undefined) return;
    if (step.isRemoval) {
      for (const node of step.nodes) this.nodes.set(node.id, node);
      for (const edge of step.edges) this.edges.set(edge.id, edge);
      for (const id of step.pinned ?? []) this.pinned.add(id);
      for (const expansion of step.collapsed ?? []) expansion.of = step.of;
      return;
    }
    const removed = new Set(step.nodes.map(({ id }) => id));
    this.#drop(step.nodes, [...step.edges, ...this.#edgesAt(removed)]);
  }

  /** Returns the expansions of an element that can be collapsed. */
  #expansionsOf(id: string): Step[] {
    return this.#steps.filter(({ of, isRemoval }) => of === id && !isRemoval);
  }

  expansionCount(id: string): number {
    return this.#expansionsOf(id).length;
  }

  /**
   * Hides the elements that only the expansions of one element added, with the edges between them.
   * Elements that others are connected to stay. Returns whether anything was hidden.
   */
  collapse(id: string): boolean {
    const expansions = this.#expansionsOf(id);
    const own = new Set(expansions.flatMap(({ nodes }) => nodes.map((node) => node.id)));
    const ends = [...own].map((node): [string, Item[]] => [node, this.#edgesAt(new Set([node]))]);
    const isOwn = (end: string | undefined): boolean => end === id || own.has(end!);
    const alone = ends.filter(([, edges]) =>
      edges.every(({ from_node, to_node }) => isOwn(from_node) && isOwn(to_node)),
    );
    const before = this.#steps.length;
    this.hide(alone.map(([node]) => node));
    const step = this.#steps[before];
    if (step === undefined) return false;
    step.of = id;
    step.collapsed = expansions;
    for (const expansion of expansions) expansion.of = undefined;
    return true;
  }

  neighboursOf(id: string): Set<string> {
    const found = new Set([id]);
    for (const { from_node, to_node } of this.edges.values()) {
      if (from_node === id) found.add(to_node!);
      if (to_node === id) found.add(from_node!);
    }
    return found;
  }

  /** Returns the present types with their counts, most frequent first. */
  types(): [string, number][] {
    const counts = new Map<string, number>();
    for (const { label } of this.nodes.values()) counts.set(label, (counts.get(label) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  }
}
