// Loads the canvas when it is first needed, because it needs the largest libraries.
import type { ComponentType } from 'preact';
import type { CanvasStart } from '../model/graph-model.js';
import { Later } from '../components/lazy.js';

interface CanvasProps {
  start: CanvasStart;
  /** The canvas is part of another page, and not in the address. */
  isInset?: boolean;
}

const loadView = (): Promise<ComponentType<CanvasProps>> =>
  import('./graph-view.js').then(({ GraphView }) => GraphView);
const loadPreview = (): Promise<ComponentType> =>
  import('./graph-preview.js').then(({ GraphPreview }) => GraphPreview);

/** The files of the canvas load while the first request is still running. */
export function fetchCanvas(page: string): void {
  // The component that shows the canvas loads it again after an error.
  if (page === 'graph') loadView().catch(() => undefined);
  if (page === 'overview') loadPreview().catch(() => undefined);
}

let hasWebgl: boolean | undefined;

/** Whether this browser supports WebGL, which users can switch off. */
function canDraw(): boolean {
  hasWebgl ??= document.createElement('canvas').getContext('webgl2') !== null;
  return hasWebgl;
}

export function Canvas(props: CanvasProps) {
  if (canDraw()) return <Later load={loadView} props={props} />;
  return (
    <div class="empty">
      <h2>This browser cannot draw graphs</h2>
      <p>They need WebGL, which is disabled here. Table and JSON show the same results.</p>
    </div>
  );
}

export const Preview = () => (canDraw() ? <Later load={loadPreview} props={{}} /> : null);
