// Shows the selected point of a map: its element, and its nearest neighbors with their scores.
import { type Item, titleOf } from '../model/item.js';
import type { Neighbour } from '../model/vector-map.js';
import { Properties } from '../components/properties.js';
import { linkTo } from '../state/router.js';

const textMax = 400;

interface MapInspectorProps {
  item: Item;
  near: readonly Neighbour[];
  itemOf: (id: string) => Item | undefined;
  choose: (id: string) => void;
}

export function MapInspector({ item, near, itemOf, choose }: MapInspectorProps) {
  return (
    <aside class="inspector" aria-label="Selection">
      <p class="kind">{item.label}</p>
      <Properties item={item} lengthMax={textMax} class="tall" />
      <p class="actions">
        <a href={linkTo('graph', '', { around: item.id })}>open in Graph</a>
      </p>
      <h3>Nearest neighbors</h3>
      {near.length === 0 && <p class="hint">The index finds no neighbors.</p>}
      <ol class="near">
        {near.map(({ id, score }) => (
          <li key={id}>
            <button type="button" class="quiet" onClick={() => choose(id)}>
              <bdi>{titleOf(itemOf(id) ?? { id, label: item.label })}</bdi>
            </button>
            <span class="mono">{score.toFixed(3)}</span>
          </li>
        ))}
      </ol>
    </aside>
  );
}
