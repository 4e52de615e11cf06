// A part that is a file of its own, fetched when it is first wanted. What does not come is asked for again, and
// a file that the server has no more, because it is of another version by now, asks for a new page.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Waiting } from './loading-or-error.js';

type Load<P> = () => Promise<ComponentType<P>>;

/** By its loader, so that a part is of the kind that its loader says. */
const loaded = new Map<unknown, unknown>();
const againMs = 2_000;
const triesMax = 3;

interface LaterProps<P> {
  load: Load<P>;
  props: P;
}

export function Later<P extends object>({ load, props }: LaterProps<P>) {
  const [tries, setTries] = useState(0);
  const Part = loaded.get(load) as ComponentType<P> | undefined;
  useEffect(() => {
    if (loaded.has(load) || tries >= triesMax) return undefined;
    let timer = 0;
    const again = (): void => setTries((count) => count + 1);
    void load().then(
      (part) => {
        loaded.set(load, part);
        again();
      },
      () => {
        timer = window.setTimeout(again, againMs);
      },
    );
    return () => clearTimeout(timer);
  }, [load, tries]);
  if (Part !== undefined) return <Part {...props} />;
  if (tries < triesMax) return <Waiting />;
  return (
    <div class="empty">
      <h2>This part of the page did not come</h2>
      <p>The server may be away, or of another version by now.</p>
      <p class="actions">
        <button type="button" onClick={() => location.reload()}>
          Load the page anew
        </button>
      </p>
    </div>
  );
}
