// What a traversal holds, in words: how many of which type.
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
