// Which colour is which type.
import { colourOf } from '../model/colour.js';
import { typePlaces } from '../state/program.js';
import type { HandsProps } from './hands.js';

const shownMax = 8;

export function Legend({ hands }: HandsProps) {
  const types = hands?.model.types() ?? [];
  if (types.length === 0 || hands!.picture.colourBy !== '') return null;
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  return (
    <ul class="legend" aria-label="Colours">
      {types.slice(0, shownMax).map(([type, count]) => (
        <li key={type}>
          <svg width="10" height="10" aria-hidden="true">
            <circle cx="5" cy="5" r="5" fill={colourOf(typePlaces.value.get(type), isDark)} />
          </svg>
          {type} <small>{count}</small>
        </li>
      ))}
    </ul>
  );
}
