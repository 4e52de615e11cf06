// The page Overview: the number of elements by type, calls and times of the last two minutes, the queries,
// and three things to try for a new user.
import { useState } from 'preact/hooks';
import { Preview } from '../canvas/lazy-canvas.js';
import { ask, messageOf } from '../state/api.js';
import { bytes, counted, micros, rate, since, whole } from '../model/format-number.js';
import { useAnswer } from '../components/use-request.js';
import { HowQueriesBegin, WaitingForProgram } from '../components/loading-or-error.js';
import { Chart } from '../components/chart.js';
import { ClusterPanel } from '../components/cluster-panel.js';
import { linkTo } from '../state/router.js';
import type { QueryFigures, Status } from '../model/status.js';
import { contract, queryNamed, schema } from '../state/program.js';
import { isAdmin, moments, status } from '../state/server.js';

export function Overview() {
  const now = status.value!;
  return (
    <div class="stack">
      <Types now={now} />
      {now.cluster && <ClusterPanel cluster={now.cluster} />}
      <Beginning now={now} />
      <Now now={now} />
      <Queries now={now} />
      {now.elements?.some(({ kind, count }) => kind === 'vector' && count > 0) && <Indexes />}
      <Facts now={now} />
    </div>
  );
}

function Types({ now }: { now: Status }) {
  const { elements } = now;
  if (elements === undefined) return null;
  if (elements.length === 0) {
    return (
      <div class="empty card">
        <h2>This project has no types yet</h2>
        <p>
          Write <code>N::Note {'{ text: String }'}</code> into a file <code>schema.hx</code> of the
          project and save it: it appears here within a second.
        </p>
      </div>
    );
  }
  const edges = elements.filter(({ kind }) => kind === 'edge');
  const total = edges.reduce((sum, { count }) => sum + count, 0);
  const shown = elements.filter(({ kind }) => kind !== 'edge');
  const tiles = Math.min(shown.length, tilesMax + 1) + 1;
  return (
    <ul class="tiles" style={{ maxWidth: `${tiles * tileWidth}px` }} aria-label="Contents">
      {shown.slice(0, tilesMax).map(({ type, count, dimensions }) => (
        <li key={type}>
          <a href={linkTo('schema', type)}>
            <b>{whole(count)}</b>
            <span>{type}</span>
            {dimensions ? <small>{dimensions} dimensions</small> : null}
          </a>
        </li>
      ))}
      {shown.length > tilesMax && (
        <li>
          <a href={linkTo('schema')}>
            <b>{shown.length - tilesMax}</b>
            <span>more types</span>
          </a>
        </li>
      )}
      <li>
        <a href={linkTo('graph')}>
          <b>{whole(total)}</b>
          <span>{total === 1 ? 'edge' : 'edges'}</span>
          <small>{counted(edges.length, 'type')}</small>
        </a>
      </li>
    </ul>
  );
}

const tilesMax = 11;
/** Maximum width of a tile in pixels. */
const tileWidth = 252;

/** Shows a sample of the graph, if it has elements, and things to try. */
function Beginning({ now }: { now: Status }) {
  const hasGraph = now.elements?.some(({ kind, count }) => kind !== 'edge' && count > 0) === true;
  if (!hasGraph) return <Tries now={now} />;
  return (
    <div class="beginning">
      <section aria-labelledby="the-graph">
        <h2 id="the-graph">The graph</h2>
        <div class="frame">
          <Preview />
        </div>
      </section>
      <Tries now={now} />
    </div>
  );
}

function Tries({ now }: { now: Status }) {
  const reads = (contract.value?.queries ?? []).filter(({ writes }) => !writes);
  const isFree = ({ parameters }: (typeof reads)[number]): boolean =>
    (parameters.required ?? []).length === 0;
  const query = reads.find(isFree) ?? reads[0];
  const isEmpty = !now.elements?.some(({ count }) => count > 0);
  const write = contract.value?.queries.find(({ writes }) => writes);
  if (contract.value === undefined || schema.value?.length === 0) return null;
  return (
    <section aria-labelledby="tries">
      <h2 id="tries">Three things to try</h2>
      <ul class="tries">
        <li>
          {isEmpty && write ? (
            <a class="card" href={linkTo('query', write.name)}>
              <b>Write something</b>
              <span>{write.name} fills the empty database</span>
            </a>
          ) : (
            <a class="card" href={linkTo('graph')}>
              <b>See the graph</b>
              <span>click a node, follow its edges</span>
            </a>
          )}
        </li>
        {query && (
          <li>
            <a class="card" href={linkTo('query', query.name, isFree(query) ? { run: '1' } : {})}>
              <b>Run {query.name}</b>
              <span>and copy it as curl, TypeScript or Python</span>
            </a>
          </li>
        )}
        <li>
          <a class="card" href={linkTo('schema')}>
            <b>Read the schema</b>
            <span>types, and the queries that use them</span>
          </a>
        </li>
      </ul>
    </section>
  );
}

function Now({ now }: { now: Status }) {
  const list = moments.value;
  const calls = list.map((moment) => moment.rate);
  const errors = list.at(-1)?.errors ?? 0;
  return (
    <section class="pair" aria-label="Now">
      <Chart
        title="requests / s"
        lines={[{ name: now.phase === 'serving' ? '' : now.phase, values: calls }]}
        print={rate}
        note={`errors ${(100 * errors).toFixed(1)} %`}
      />
      <Chart
        title="time"
        lines={[
          { name: 'p50', values: list.map(({ p50 }) => p50) },
          { name: 'p99', values: list.map(({ p99 }) => p99) },
        ]}
        print={micros}
      />
    </section>
  );
}

const queriesMax = 12;

function Queries({ now }: { now: Status }) {
  const [all, setAll] = useState(false);
  // Queries called since the page opened come first, then queries that read, so that rows do not move each
  // second.
  const [totals] = useState(() => new Map<string, number>());
  for (const { name, calls } of now.seconds === null ? [] : now.queries) {
    totals.set(name, (totals.get(name) ?? 0) + calls);
  }
  const rank = ({ name }: QueryFigures): number =>
    (totals.get(name) ?? 0) > 0 ? 0 : queryNamed(name)?.writes === true ? 2 : 1;
  const order = now.queries.toSorted((a, b) => rank(a) - rank(b));
  if (order.length === 0) {
    if (schema.value === undefined) return <WaitingForProgram />;
    return (
      <div class="empty card">
        <h2>No queries yet</h2>
        <HowQueriesBegin hasTypes />
      </div>
    );
  }
  const seconds = now.seconds ?? 1;
  return (
    <section aria-labelledby="queries">
      <h2 id="queries">Queries</h2>
      <div class="scroll">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">query</th>
              <th scope="col">calls / s</th>
              <th scope="col">p50</th>
              <th scope="col">p99</th>
              <th scope="col">errors</th>
            </tr>
          </thead>
          <tbody>
            {order.slice(0, all ? order.length : queriesMax).map((query) => (
              <Figures
                key={query.name}
                query={query}
                seconds={seconds}
                isFresh={now.seconds === null}
              />
            ))}
          </tbody>
        </table>
      </div>
      {order.length > queriesMax && (
        <button type="button" class="quiet" onClick={() => setAll(!all)}>
          {all ? 'show fewer' : `show all ${order.length}`}
        </button>
      )}
    </section>
  );
}

interface FiguresProps {
  query: QueryFigures;
  seconds: number;
  isFresh: boolean;
}

function Figures({ query, seconds, isFresh }: FiguresProps) {
  const { name, calls, errors, p50_us, p99_us } = query;
  return (
    <tr class={calls === 0 ? 'still' : ''}>
      <th scope="row">
        <a href={linkTo('query', name)}>{name}</a>
      </th>
      <td>{isFresh || calls === 0 ? '–' : rate(calls / seconds)}</td>
      <td>{micros(p50_us)}</td>
      <td>{micros(p99_us)}</td>
      <td class={errors > 0 && !isFresh ? 'bad' : ''}>{calls === 0 || isFresh ? '–' : errors}</td>
    </tr>
  );
}

interface VectorIndex {
  kind: string;
  type: string;
  vectors: number;
  dimensions: number;
  metric: string;
  bytes: number;
  layout_used: string | null;
}

function Indexes() {
  const [measured, setMeasured] = useState(new Map<string, string>());
  const read = async () =>
    isAdmin.value ? (await ask<{ indexes: VectorIndex[] }>('_admin/indexes')).value.indexes : [];
  const list = (useAnswer(read, []).value ?? []).filter(({ kind }) => kind === 'vector');
  const measure = async (type: string): Promise<void> => {
    const note = (text: string): void => setMeasured((old) => new Map(old).set(type, text));
    note('measuring …');
    try {
      const path = `_admin/recall?type=${encodeURIComponent(type)}`;
      const { value } = await ask<{ recall: { recall: number; samples: number }[] }>(path, {
        body: '{}',
      });
      const [result] = value.recall;
      note(`recall@10 ${result!.recall.toFixed(3)} of ${result!.samples} samples`);
    } catch (error) {
      note(messageOf(error));
    }
  };
  if (list.length === 0) return null;
  return (
    <section aria-labelledby="indexes">
      <h2 id="indexes">Vector indexes</h2>
      <ul class="rows card">
        {list.map(({ type, vectors, dimensions, metric, bytes: size, layout_used }) => (
          <li key={type}>
            <a href={linkTo('schema', type)}>{type}</a>
            <span>
              {whole(vectors)} × {dimensions} {metric}
            </span>
            <span>{layout_used}</span>
            <span>{bytes(size)}</span>
            <span class="end">
              {measured.get(type) ?? (
                <button type="button" onClick={() => void measure(type)}>
                  Measure recall
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ now }: { now: Status }) {
  const { version, uptime_s, bytes: size, writer, sessions } = now;
  return (
    <p class="facts">
      <span>TrellisDB {version}</span>
      <span>up {since(uptime_s)}</span>
      {size && <span>file {bytes(size.file)}</span>}
      {size && <span>memory {bytes(size.rss)}</span>}
      {writer && <span>{counted(writer.writes, 'write')} since the start</span>}
      {writer && <span>index lag {whole(writer.index_lag)}</span>}
      {sessions !== undefined && <span>{counted(sessions, 'session')}</span>}
      {now.read_only_reason && <span class="bad">{now.read_only_reason}</span>}
    </p>
  );
}
