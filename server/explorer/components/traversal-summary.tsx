// Describes a traversal in words: the number of items of each type.
import { whole } from '../model/format-number.js';
import type { Held } from '../model/session.js';

export function HeldText({ held }: { held: Held }) {
  if (held.length === 0) return <span>nothing</span>;
  return (
    <>
      {held.map(({ label, count }, at) => (
        <span key={label}>
          {at > 0 && ', '}
          <b>{whole(count)}</b> {label}
        </span>
      ))}
    </>
  );
}
