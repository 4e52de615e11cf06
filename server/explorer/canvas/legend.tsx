// Shows which color is which type, or which values of the property that determines the colors. A long legend
// is a list that opens.
import { useState } from 'preact/hooks';
import { colourOf, hatching, isHatched } from '../model/colour.js';
import type { ColourGroup } from '../model/colour-groups.js';
import { typePaletteIndexes } from '../state/program.js';
import type { CanvasContext, CanvasProps } from './canvas-context.js';

const shownMax = 12;

function groupsOf({ model, renderer }: CanvasContext): ColourGroup[] {
  if (renderer.colourBy !== '') return renderer.groups;
  return model
    .types()
    .map(([name, count]) => ({ name, count, paletteIndex: typePaletteIndexes.value.get(name) }));
}

export function Legend({ context }: CanvasProps) {
  const [isOpen, setOpen] = useState(false);
  const groups = context === undefined ? [] : groupsOf(context);
  if (groups.length === 0) return null;
  return (
    <ul class="legend" aria-label="Colors">
      {groups.slice(0, isOpen ? groups.length : shownMax).map(({ name, count, paletteIndex }) => (
        <li key={name}>
          <svg width="10" height="10" aria-hidden="true">
            <circle
              cx="5"
              cy="5"
              r="5"
              fill={`light-dark(${colourOf(paletteIndex, false)}, ${colourOf(paletteIndex, true)})`}
            />
            {isHatched(paletteIndex) && (
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
