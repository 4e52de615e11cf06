// The page Slow log: slow requests, and how their time was spent. The log has no parameter values, so
// requests cannot be repeated from here.
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../state/api.js';
import { bytes, millis, whole } from '../model/format-number.js';
import { NeedsAdmin, Waiting } from '../components/loading-or-error.js';
import { queryNamed } from '../state/program.js';
import { linkTo, route, setParams } from '../state/router.js';
import { isAdmin } from '../state/server.js';

interface SlowRequest {
  ts: string;
  request_id: string;
  route: string;
  query?: string;
  status: string;
  code?: string;
  ms: number;
  queue_ms?: number;
  rows?: number;
  visits?: number;
  bytes_out: number;
}

const columns = ['ts', 'query', 'ms', 'queue_ms', 'rows', 'visits', 'bytes_out'] as const;
type Column = (typeof columns)[number];
const names: Record<Column, string> = {
  ts: 'at',
  query: 'query',
  ms: 'time',
  queue_ms: 'waited',
  rows: 'rows',
  visits: 'visits',
  bytes_out: 'bytes',
};

export function SlowLog() {
  const [list, setList] = useState<SlowRequest[] | undefined>();
  useEffect(() => {
    if (!isAdmin.value) return undefined;
    const read = (): void => {
      if (document.hidden) return;
      void ask<SlowRequest[]>('slowlog').then(
        // Requests of the explorer are left out.
        ({ value }) => setList(value.filter(({ route }) => route !== '_explore')),
        () => undefined,
      );
    };
    read();
    const timer = setInterval(read, 2000);
    return () => clearInterval(timer);
  }, []);
  if (!isAdmin.value) return <NeedsAdmin what="The slow log" />;
  if (list === undefined) return <Waiting />;
  if (list.length === 0) {
    return (
      <div class="empty">
        <h2>No slow requests</h2>
        <p>
          This page shows the last 128 requests that took longer than <code>log.slow_after</code>.
          Set a shorter time in <code>trellis.toml</code> to see more.
        </p>
      </div>
    );
  }
  return <Entries list={list} />;
}

function Entries({ list }: { list: SlowRequest[] }) {
  const { params } = route.value;
  const by = columns.find((column) => column === params.get('by')) ?? 'ts';
  const isRising = params.get('order') === 'asc';
  const sign = isRising ? -1 : 1;
  const sorted = list.toSorted((a, b) => sign * compare(cellOf(b, by), cellOf(a, by)));
  const sort = (column: Column): void =>
    setParams({ by: column, order: column === by && !isRising ? 'asc' : undefined });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Slow requests">
      <table class="figures slow">
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column}
                scope="col"
                aria-sort={by !== column ? 'none' : isRising ? 'ascending' : 'descending'}
              >
                <button type="button" class="quiet" onClick={() => sort(column)}>
                  {by === column ? (isRising ? '↑ ' : '↓ ') : ''}
                  {names[column]}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((entry) => (
            <tr key={entry.request_id}>
              <th scope="row">
                <time dateTime={entry.ts}>{new Date(entry.ts).toLocaleTimeString('en-GB')}</time>
              </th>
              <td>
                {entry.query !== undefined && queryNamed(entry.query) ? (
                  <a href={linkTo('query', entry.query)}>{entry.query}</a>
                ) : (
                  entry.route
                )}{' '}
                {entry.code && <small class="bad">{entry.code}</small>}
              </td>
              <td>{millis(entry.ms)}</td>
              <td>{entry.queue_ms === undefined ? '–' : <Waited {...entry} />}</td>
              <td>{entry.rows === undefined ? '–' : whole(entry.rows)}</td>
              <td>{entry.visits === undefined ? '–' : whole(entry.visits)}</td>
              <td>{bytes(entry.bytes_out)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Returns the waiting time, and its share of the total time. */
function Waited({ ms, queue_ms = 0 }: SlowRequest) {
  return (
    <>
      <small>{Math.round((100 * queue_ms) / Math.max(ms, 1e-3))} %</small> {millis(queue_ms)}
    </>
  );
}

const cellOf = (entry: SlowRequest, by: Column): string | number =>
  by === 'query' ? (entry.query ?? entry.route) : (entry[by] ?? -1);

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
