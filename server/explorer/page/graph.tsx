// The graph on the whole page. The address names its elements, so that a link shows the same ones.
import { useRef } from 'preact/hooks';
import { type CanvasStart, unpackIds } from '../model/graph-model.js';
import { Canvas } from '../canvas/lazy-canvas.js';
import { NeedsWhole } from '../part/waiting.js';
import { route } from '../state/router.js';
import { isScoped } from '../state/server.js';

/** What an address asks to begin with. */
function startOf(params: URLSearchParams): CanvasStart {
  const [around, packed] = [params.get('around'), params.get('n')];
  if (around !== null) return { around };
  return packed === null ? {} : { ids: unpackIds(packed) };
}

export function Graph() {
  return isScoped.value ? <NeedsWhole what="The graph" /> : <WholeGraph />;
}

function WholeGraph() {
  const { params } = route.value;
  const start = startOf(params);
  const key = useRef({ text: '', number: 0 });
  const text = start.around ?? '';
  // What the canvas itself wrote into the address does not begin it anew.
  if (text !== '' && text !== key.current.text)
    key.current = { text, number: key.current.number + 1 };
  return <Canvas key={key.current.number} start={start} />;
}
