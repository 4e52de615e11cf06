// The application: navigation, search box, state of the server, and the page of the address. Pages with large
// libraries are loaded when they are first opened.
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { fetchCanvas } from './canvas/lazy-canvas.js';
import { Login } from './pages/login.js';
import { Overview } from './pages/overview.js';
import { Finder } from './components/search-box.js';
import { Later } from './components/lazy.js';
import { withStyle } from './components/page-style.js';
import { Waiting } from './components/loading-or-error.js';
import { isOffline } from './state/api.js';
import { forgetKey, hasKey, keyRequest } from './state/key.js';
import { linkTo, route, visits } from './state/router.js';
import { startError, status } from './state/server.js';

interface Entry {
  id: string;
  name: string;
  /** Absent for the page that is part of the first load. */
  load?: () => Promise<ComponentType>;
}

const later = (id: string, name: string, load: () => Promise<ComponentType>): Entry => ({
  id,
  name,
  load: withStyle(load),
});

const pages: Entry[] = [
  { id: 'overview', name: 'Overview' },
  later('schema', 'Schema', () => import('./pages/schema.js').then((m) => m.Schema)),
  later('query', 'Query', () => import('./pages/query.js').then((m) => m.Query)),
  later('graph', 'Graph', () => import('./pages/graph.js').then((m) => m.Graph)),
  later('vectors', 'Vectors', () => import('./pages/vectors.js').then((m) => m.Vectors)),
  later('session', 'Session', () => import('./pages/session.js').then((m) => m.Session)),
  later('source', 'Source', () => import('./pages/source.js').then((m) => m.Source)),
  later('slow', 'Slow log', () => import('./pages/slow.js').then((m) => m.SlowLog)),
  later('api', 'API', () => import('./pages/api.js').then((m) => m.Api)),
];

/** Starts to load the page of the address while the first status request is still running. */
export function fetchFirst(): void {
  const { page } = route.value;
  pages
    .find(({ id }) => id === page)
    ?.load?.()
    .catch(() => undefined);
  fetchCanvas(page);
}

function Rail() {
  const { page } = route.value;
  const rail = useRef<HTMLElement>(null);
  // On a narrow screen the navigation is a scrolling row.
  useEffect(() => {
    const current = rail.current?.querySelector('[aria-current]');
    current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [page]);
  const refused = status.value?.sources;
  return (
    <nav ref={rail} class="rail" aria-label="Pages">
      <a class="brand" href={linkTo('overview')}>
        <span class="mark" aria-hidden="true" />
        TrellisDB
      </a>
      {pages.map(({ id, name }) => (
        <a
          key={id}
          href={linkTo(id)}
          aria-current={page === id ? 'page' : undefined}
          class={id === 'source' && refused ? 'amber' : ''}
        >
          {name}
          {id === 'source' && refused && <span class="badge">{refused.errors || '!'}</span>}
        </a>
      ))}
    </nav>
  );
}

function StateLine() {
  const now = status.value;
  if (now === undefined) return null;
  const { sources, phase, writes } = now;
  const word = isOffline.value ? 'no answer' : phase === 'serving' ? 'ready' : phase;
  const tone = isOffline.value ? 'bad' : phase === 'serving' ? 'good' : 'amber';
  return (
    <p class="state" role="status">
      {sources && (
        <a class="chip amber" href={linkTo('source')}>
          <span class="wide-only">sources</span> refused
        </a>
      )}
      {!writes && <span class="chip amber">read only</span>}
      <span class={`chip ${tone}`}>
        <i aria-hidden="true" />
        {word}
      </span>
      {hasKey() && (
        <button type="button" class="quiet" onClick={forgetKey}>
          sign out
        </button>
      )}
    </p>
  );
}

/** Shows the current page. An error of one page does not affect the others. */
function CurrentPage() {
  const { page } = route.value;
  const [defect, reset] = useErrorBoundary(reportError);
  useEffect(() => {
    if (defect) reset();
  }, [visits.value]);
  if (defect) {
    return (
      <div class="empty">
        <h2>Something went wrong on this page</h2>
        <p>{String(defect)}</p>
      </div>
    );
  }
  const entry = pages.find(({ id }) => id === page);
  if (entry === undefined) {
    return (
      <div class="empty">
        <h2>There is no page “{page}”</h2>
        <p>
          <a href={linkTo('overview')}>Go to the overview</a>
        </p>
      </div>
    );
  }
  if (entry.load === undefined) return <Overview />;
  return <Later key={page} load={entry.load} props={{}} />;
}

export function App() {
  const main = useRef<HTMLElement>(null);
  const { page } = route.value;
  const name = pages.find(({ id }) => id === page)?.name ?? '';
  useEffect(() => {
    document.title = `${name} · ${status.value?.title ?? 'TrellisDB'}`;
    main.current?.scrollTo(0, 0);
  }, [page, status.value?.title]);
  if (keyRequest.value !== undefined) return <Login />;
  const isThere = status.value !== undefined;
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={(event) => skip(event, main.current)}>
        Skip to content
      </a>
      <Rail />
      <header class="top">
        <h1>{name}</h1>
        <span class="project">{status.value?.title}</span>
        <Finder />
        <StateLine />
      </header>
      <main ref={main} id="content" tabIndex={-1} class={`page-${page}`}>
        {isThere ? <CurrentPage /> : <Start />}
      </main>
    </div>
  );
}

function skip(event: Event, target: HTMLElement | null): void {
  event.preventDefault();
  target?.focus();
}

function Start() {
  if (startError.value === undefined) return <Waiting />;
  return (
    <div class="empty">
      <h2>{startError.value}</h2>
      <p>The page continues as soon as the server responds.</p>
    </div>
  );
}
