// Watches a session of an agent: reads its traversal once a second without moving its cursor. Each change is
// a row.
//
// Invariant: watching changes only the time of last use of the session.
import { useEffect, useState } from 'preact/hooks';
import { since } from '../model/format-number.js';
import { isItem, titleOf } from '../model/item.js';
import type { Held } from '../model/session.js';
import { isOffline, messageOf } from '../state/api.js';
import { setParams } from '../state/router.js';
import { readFirst, readHeld } from '../state/session.js';
import { HeldText } from './traversal-summary.js';
import { Table } from './table.js';
import { Waiting } from './loading-or-error.js';

interface Change {
  at: string;
  held: Held;
  first: string;
}

const itemsShown = 20;
const changesMax = 200;

interface Seen {
  held: Held;
  items: Record<string, unknown>[];
  changes: Change[];
}

/** Returns a text that changes only if the traversal or the order of its items changes. */
const printSeen = (held: Held, items: readonly unknown[]): string =>
  JSON.stringify([held, items.map((item) => (isItem(item) ? item.id : ''))]);

function useWatch(connection: string) {
  const [seen, setSeen] = useState<Seen | undefined>();
  const [error, setError] = useState('');
  useEffect(() => {
    const started = performance.now();
    let last = '';
    let isBusy = false;
    const read = async (): Promise<void> => {
      if (document.hidden || isBusy) return;
      isBusy = true;
      try {
        const held = await readHeld(connection);
        setError('');
        const items = (await readFirst(connection, itemsShown)) as Record<string, unknown>[];
        const printed = printSeen(held, items);
        if (printed === last) return;
        // If the agent made a step between the two requests, the next poll reads again.
        const after = await readHeld(connection);
        if (JSON.stringify(after) !== JSON.stringify(held)) return;
        last = printed;
        const [head] = items;
        const first = isItem(head) ? titleOf(head) : '–';
        const change = { at: since(Math.round((performance.now() - started) / 1000)), held, first };
        setSeen((old) => ({
          held,
          items,
          changes: [change, ...(old?.changes ?? [])].slice(0, changesMax),
        }));
      } catch (error) {
        setError(messageOf(error));
        // The session can still exist when the server is back.
        if (!isOffline.value) clearInterval(timer);
      } finally {
        isBusy = false;
      }
    };
    const timer = setInterval(() => void read(), 1000);
    void read();
    return () => clearInterval(timer);
  }, [connection]);
  return { seen, error };
}

export function WatchedSession({ connection }: { connection: string }) {
  const { seen, error } = useWatch(connection);
  const leave = (): void => setParams({ watch: undefined });
  return (
    <div class="stack watched">
      <div class="spread">
        <p>
          Watching <span class="mono">{connection}</span>
        </p>
        <button type="button" onClick={leave}>
          Stop watching
        </button>
      </div>
      {error !== '' && <p class="note bad">{error}</p>}
      {error === '' && seen === undefined && <Waiting />}
      {seen !== undefined && (
        <>
          <section>
            <h2>
              Current traversal: <HeldText held={seen.held} />
            </h2>
            {seen.items.length > 0 && <Table rows={seen.items} />}
          </section>
          <section>
            <h2>Changes</h2>
            <table class="figures">
              <thead>
                <tr>
                  <th scope="col">after</th>
                  <th scope="col">first item</th>
                  <th scope="col">traversal</th>
                </tr>
              </thead>
              <tbody>
                {seen.changes.map(({ at, held, first }, no) => (
                  <tr key={seen.changes.length - no}>
                    <th scope="row">{at}</th>
                    <td class="first">
                      <span class="clip">{first}</span>
                    </td>
                    <td>
                      <HeldText held={held} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
    </div>
  );
}
