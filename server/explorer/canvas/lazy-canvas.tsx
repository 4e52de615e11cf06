// The canvas of graphs, fetched when it is first needed: it brings the largest libraries.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CanvasStart } from '../model/graph-model.js';
import { Waiting } from '../part/waiting.js';

interface CanvasProps {
  start: CanvasStart;
  /** Beside other things, and not in the address. */
  isInset?: boolean;
}

let loaded: ComponentType<CanvasProps> | undefined;

export function Canvas(props: CanvasProps) {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (loaded !== undefined) return;
    void import('./graph-view.js').then(({ GraphView }) => {
      loaded = GraphView;
      redraw((n) => n + 1);
    });
  }, []);
  const View = loaded;
  return View === undefined ? <Waiting /> : <View {...props} />;
}
