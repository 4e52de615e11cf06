// Selects the elements within a rectangle, by shift and drag on the canvas. Owns the rectangle while it is
// drawn. Invariant: a shift-click without a drag stays a click of the canvas.
import type { Box } from './graph-renderer.js';

/** Minimum distance in pixels of a drag. */
const dragMin = 5;

export function listenForMarquee(host: HTMLElement, choose: (region: Box) => void): () => void {
  let stop = (): void => undefined;
  const begin = (down: MouseEvent): void => {
    if (!down.shiftKey || down.button !== 0) return;
    // Without this, the canvas would move during the drag.
    down.stopPropagation();
    down.preventDefault();
    stop();
    stop = drawRegion(host, down, choose);
  };
  host.addEventListener('mousedown', begin, { capture: true });
  return () => {
    stop();
    host.removeEventListener('mousedown', begin, { capture: true });
  };
}

function drawRegion(
  host: HTMLElement,
  down: MouseEvent,
  choose: (region: Box) => void,
): () => void {
  const box = host.getBoundingClientRect();
  const frame = document.createElement('div');
  frame.className = 'marquee';
  let region: Box | undefined;
  const move = ({ clientX, clientY }: MouseEvent): void => {
    const [dx, dy] = [Math.abs(clientX - down.clientX), Math.abs(clientY - down.clientY)];
    if (region === undefined && Math.max(dx, dy) < dragMin) return;
    if (region === undefined) host.append(frame);
    const left = Math.min(clientX, down.clientX) - box.left;
    const top = Math.min(clientY, down.clientY) - box.top;
    region = { left, top, right: left + dx, bottom: top + dy };
    const { style } = frame;
    [style.left, style.top] = [`${left}px`, `${top}px`];
    [style.width, style.height] = [`${dx}px`, `${dy}px`];
  };
  const stop = (): void => {
    frame.remove();
    removeEventListener('mousemove', move);
    removeEventListener('mouseup', end);
  };
  const end = (): void => {
    stop();
    if (region === undefined) return;
    swallowClick(host);
    choose(region);
  };
  addEventListener('mousemove', move);
  addEventListener('mouseup', end);
  return stop;
}

/** Ignore the click at the end of a drag. */
function swallowClick(host: HTMLElement): void {
  const swallow = (click: Event): void => click.stopPropagation();
  host.addEventListener('click', swallow, { capture: true, once: true });
  // A drag that ends outside the canvas has no click here.
  setTimeout(() => host.removeEventListener('click', swallow, { capture: true }), 0);
}
