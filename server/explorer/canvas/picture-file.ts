// A picture as a file: SVG from the positions on the canvas, PNG from that SVG, JSON of the elements.
import type { GraphModel } from '../model/graph-model.js';
import type { Picture } from './picture.js';

const margin = 40;
const side = 1200;

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => escapes[one]!);

export function asSvg({ graph }: Picture, ground: string, ink: string): string {
  const places = graph.mapNodes((_, { x, y }) => [x as number, y as number] as const);
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const scale = (side - 2 * margin) / Math.max(right - left, high - low, 1e-9);
  const at = (id: string): [string, string] => {
    const { x, y } = graph.getNodeAttributes(id) as { x: number; y: number };
    return [(margin + (x - left) * scale).toFixed(1), (margin + (high - y) * scale).toFixed(1)];
  };
  const lines = graph.mapEdges((_, { color }, from, to) => {
    const [[x1, y1], [x2, y2]] = [at(from), at(to)];
    return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${color}"/>`;
  });
  const dots = graph.mapNodes((id, { size, color, label }) => {
    const [x, y] = at(id);
    const text = `<text x="${x}" y="${y}" dx="${size + 4}" dy="4">${escaped(label)}</text>`;
    return `<circle cx="${x}" cy="${y}" r="${size.toFixed(1)}" fill="${color}"/>${text}`;
  });
  const wide = Math.round((right - left) * scale + 2 * margin + 160);
  const tall = Math.round((high - low) * scale + 2 * margin);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}">
<rect width="100%" height="100%" fill="${ground}"/>
<g font-family="system-ui, sans-serif" font-size="12" fill="${ink}">
${lines.join('\n')}
${dots.join('\n')}
</g></svg>
`;
}

export function asJson({ nodes, edges }: GraphModel): string {
  return `${JSON.stringify({ nodes: [...nodes.values()], edges: [...edges.values()] }, printWide, 2)}\n`;
}

const printWide = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

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

/** The text of a drawing with the looks that the page's style gives it: a file has no style sheet. */
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
  return new XMLSerializer().serializeToString(copy);
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
