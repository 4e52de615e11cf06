// Loads a component when it is first shown, and retries after an error. If the file no longer exists, because
// the server runs another version, a button reloads the page.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Waiting } from './loading-or-error.js';

type Load<P> = () => Promise<ComponentType<P>>;

/** Loaded components by their loader. */
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
      <h2>This part of the page could not be loaded</h2>
      <p>The server may be down, or may run another version now.</p>
      <p class="actions">
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </p>
    </div>
  );
}
