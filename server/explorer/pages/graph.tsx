// The page Graph. The address contains the ids of the elements, so that a link shows the same elements.
import type { CanvasStart } from '../model/graph-model.js';
import { unpackIds, unpackPositions } from '../model/packed-ids.js';
import { Canvas } from '../canvas/lazy-canvas.js';
import { NeedsWhole } from '../components/loading-or-error.js';
import { route, visits } from '../state/router.js';
import { isScoped } from '../state/server.js';

/** Returns the initial elements of an address. */
function startOf(params: URLSearchParams): CanvasStart {
  const [around, packed] = [params.get('around'), params.get('n')];
  if (around !== null) return { around, chosen: [around] };
  const view = {
    chosen: unpackIds(params.get('at') ?? ''),
    colourBy: params.get('by') ?? '',
    pinned: unpackPositions(unpackIds(params.get('pin') ?? ''), params.get('place') ?? ''),
  };
  return packed === null ? view : { ids: unpackIds(packed), ...view };
}

export function Graph() {
  return isScoped.value ? <NeedsWhole what="The graph" /> : <WholeGraph />;
}

function WholeGraph() {
  // Changes that the canvas writes into the address do not restart it.
  return <Canvas key={visits.value} start={startOf(route.value.params)} />;
}
