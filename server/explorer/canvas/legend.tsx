// Shows which color is which type, or which values of the property that determines the colors. A long legend
// is a list that opens.
import { useState } from 'preact/hooks';
import { colourOf, hatching, isHatched } from '../model/colour.js';
import type { ColourGroup } from '../model/colour-groups.js';
import { typePlaces } from '../state/program.js';
import type { CanvasContext, HandsProps } from './canvas-context.js';

const shownMax = 12;

function groupsOf({ model, picture }: CanvasContext): ColourGroup[] {
  if (picture.colourBy !== '') return picture.groups;
  return model.types().map(([name, count]) => ({ name, count, place: typePlaces.value.get(name) }));
}

export function Legend({ hands }: HandsProps) {
  const [isOpen, setOpen] = useState(false);
  const groups = hands === undefined ? [] : groupsOf(hands);
  if (groups.length === 0) return null;
  return (
    <ul class="legend" aria-label="Colors">
      {groups.slice(0, isOpen ? groups.length : shownMax).map(({ name, count, place }) => (
        <li key={name}>
          <svg width="10" height="10" aria-hidden="true">
            <circle
              cx="5"
              cy="5"
              r="5"
              fill={`light-dark(${colourOf(place, false)}, ${colourOf(place, true)})`}
            />
            {isHatched(place) && (
              <path d={hatching(5, 5, 5)} stroke="var(--card)" stroke-width="1.5" />
            )}
          </svg>
          {name} <small>{count}</small>
        </li>
      ))}
      {groups.length > shownMax && (
        <li key="">
          <button
            type="button"
            class="small"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'fewer' : `${groups.length - shownMax} more`}
          </button>
        </li>
      )}
    </ul>
  );
}
