// Exports the canvas as a file: SVG from the positions on the canvas, PNG from that SVG, or JSON of the
// elements.
import { printExact } from '../model/lossless-json.js';
import { hatching } from '../model/colour.js';
import type { GraphModel } from '../model/graph-model.js';
import type { GraphRenderer } from './graph-renderer.js';

const margin = 40;
const side = 1200;
const labelSize = 12;
const labelHeight = 14;
/** Margin that is wide enough for the longest label. */
const labelRoom = 260;
const font = 'system-ui, sans-serif';

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => escapes[one]!);

/** Removes characters that XML does not allow: control characters and unpaired surrogates. */
const wellFormed = (text: string): string =>
  text.replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, ' ');

type Measure = (text: string) => number;

function measure(): Measure {
  const context = document.createElement('canvas').getContext('2d')!;
  context.font = `${labelSize}px ${font}`;
  return (text) => context.measureText(text).width;
}

interface Label {
  x: number;
  y: number;
  size: number;
  text: string;
}

/**
 * Returns the labels to draw. If two labels would overlap, only that of the larger element is drawn.
 */
function apart(labels: readonly Label[]): Label[] {
  const widthOf = measure();
  const accepted: (Label & { right: number })[] = [];
  for (const label of labels.toSorted((a, b) => b.size - a.size)) {
    const { x, y, text } = label;
    const right = x + widthOf(text);
    const isFree = accepted.every(
      (other) => Math.abs(other.y - y) >= labelHeight || other.x >= right || x >= other.right,
    );
    if (isFree && text !== '') accepted.push({ ...label, right });
  }
  return accepted;
}

interface Line {
  from: [x: number, y: number];
  to: [x: number, y: number];
  /** Radius of the disc at the end of the edge. */
  rim: number;
}

const headLength = 8;
const headWidth = 3;

/** Draws an edge with the head of its arrow at the rim of its target, as on the canvas. */
function edgeLine(
  { from: [x1, y1], to: [x2, y2], rim }: Line,
  color: string,
  isMap: boolean,
): string {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const line = `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${color}"/>`;
  if (isMap || length <= rim + headLength) return line;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const along = (far: number, across: number): string =>
    `${(x2 - far * dx - across * dy).toFixed(1)} ${(y2 - far * dy + across * dx).toFixed(1)}`;
  const back = rim + headLength;
  const head = `M${along(rim, 0)}L${along(back, headWidth)}L${along(back, -headWidth)}Z`;
  return `${line}<path d="${head}" fill="${color}"/>`;
}

export function asSvg({ graph, isMap }: GraphRenderer, ground: string, ink: string): string {
  const positions = graph.mapNodes((_, { x, y }) => [x as number, y as number] as const);
  const [xs, ys] = [positions.map(([x]) => x), positions.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const scale = (side - 2 * margin) / Math.max(right - left, high - low, 1e-9);
  const at = (id: string): [string, string] => {
    const { x, y } = graph.getNodeAttributes(id) as { x: number; y: number };
    return [(margin + (x - left) * scale).toFixed(1), (margin + (high - y) * scale).toFixed(1)];
  };
  const rimOf = (id: string): number => graph.getNodeAttribute(id, 'size') as number;
  const lines = graph.mapEdges((_, { color }, from, to) => {
    const line = { from: at(from).map(Number), to: at(to).map(Number), rim: rimOf(to) };
    return edgeLine(line as Line, color as string, isMap);
  });
  const dots = graph.mapNodes((id, { size, color, type }) => {
    const [x, y] = at(id);
    const disc = `<circle cx="${x}" cy="${y}" r="${size.toFixed(1)}" fill="${color}"/>`;
    if (type !== 'hatched') return disc;
    const stripes = hatching(Number(x), Number(y), size as number);
    return `${disc}<path d="${stripes}" stroke="${ground}" stroke-width="${size / 4}"/>`;
  });
  const labels = graph.mapNodes((id, { size, label }): Label => {
    const [x, y] = at(id).map(Number) as [number, number];
    return { x: x + size + 4, y: y + 4, size, text: label };
  });
  const texts = apart(labels).map(
    ({ x, y, text }) => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}">${escaped(text)}</text>`,
  );
  const wide = Math.round((right - left) * scale + 2 * margin + labelRoom);
  const tall = Math.round((high - low) * scale + 2 * margin);
  return wellFormed(`<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}">
<rect width="100%" height="100%" fill="${ground}"/>
${lines.join('\n')}
${dots.join('\n')}
<g font-family="${font}" font-size="${labelSize}" fill="${ink}" stroke="${ground}" stroke-width="3" paint-order="stroke">
${texts.join('\n')}
</g></svg>
`);
}

export function asJson({ nodes, edges }: GraphModel): string {
  return `${printExact({ nodes: [...nodes.values()], edges: [...edges.values()] }, 2)}\n`;
}

export function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const drawn = [
  'fill',
  'stroke',
  'stroke-width',
  'paint-order',
  'font-size',
  'font-weight',
  'font-family',
] as const;

/** Returns the SVG with the computed styles of the page, because a file has no style sheet. */
export function withStyles(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [from, to] = [svg, copy].map((root) => [...root.querySelectorAll<SVGElement>('*')]);
  for (const [at, element] of from!.entries()) {
    const style = getComputedStyle(element);
    for (const name of drawn) to![at]!.setAttribute(name, style.getPropertyValue(name));
  }
  for (const link of copy.querySelectorAll('a')) link.removeAttribute('href');
  const ground = getComputedStyle(svg.closest('.card') ?? svg).backgroundColor;
  copy.insertAdjacentHTML('afterbegin', `<rect width="100%" height="100%" fill="${ground}"/>`);
  return wellFormed(new XMLSerializer().serializeToString(copy));
}

/** Draws the SVG on a canvas twice as large. */
export async function asPng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
  const context = canvas.getContext('2d')!;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob!)));
}
