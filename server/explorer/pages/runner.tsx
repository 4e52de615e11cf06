// One query: its form, its buttons, its result. A query that writes needs one confirmation. Errors of the
// server are shown at their fields.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { QueryContract } from '../model/contract.js';
import { bytes, counted, millis } from '../model/format-number.js';
import { addressOf, typedOf } from '../model/query-address.js';
import { type Typed, membersOf, printBody } from '../model/value-form.js';
import { CopyCode } from '../components/copy-code.js';
import { Fields } from '../components/fields.js';
import type { Explanation } from '../components/plan-tree.js';
import { QueryText } from '../components/query-text.js';
import { tablesIn } from '../components/table.js';
import { type Answer, ApiError, ask, messageOf } from '../state/api.js';
import { argumentsIn, calls, noteCall } from '../state/calls.js';
import { hereLink, route, setParams, visits } from '../state/router.js';
import { isAdmin, status } from '../state/server.js';
import { type Run, Result } from './result.js';

type Mode = 'run' | 'explain' | 'profile';

/** Errors by the path of their field. */
function errorsByField(error: ApiError): Map<string, string> {
  const list = error.body.errors ?? [error.body];
  return new Map(list.flatMap(({ path, error: text }) => (path ? [[path, text]] : [])));
}

async function carryOut(
  query: QueryContract,
  mode: Mode,
  body: string,
  signal: AbortSignal,
): Promise<Run> {
  const path = mode === 'run' ? query.name : `${query.name}?${mode}=1`;
  const answer = await ask<unknown>(path, { body, signal });
  if (mode === 'explain') return { plan: answer.value as Explanation };
  if (mode === 'run') return { answer };
  const { result, profile } = answer.value as { result: unknown; profile: Explanation };
  return { answer: { ...answer, value: result } as Answer, plan: profile };
}

/**
 * Returns the address after a call, which contains the view and that the call was made. A link keeps its
 * own view.
 */
function noteInAddress(query: QueryContract, mode: Mode, { answer }: Run, isLink: boolean): void {
  const view = route.value.params.get('view');
  if (mode !== 'run') {
    // A link runs a query that reads again, and shows only the plan of a query that writes.
    const run = query.writes ? 'explain' : mode;
    setParams({ view: isLink && view !== null ? view : 'plan', run });
    return;
  }
  const isPlan = view === 'plan';
  setParams({ run: query.writes ? undefined : '1', ...(isPlan && { view: undefined }) });
  // The filter of the list is not part of a call.
  noteCall({ query: query.name, address: hereLink('filter'), ms: answer!.ms });
}

/** Returns what a link runs immediately. For a query that writes, it only shows the plan. */
function modeOf(run: string | null, { writes }: QueryContract): Mode | undefined {
  if (run === 'explain') return run;
  if (writes) return undefined;
  return run === '1' ? 'run' : run === 'profile' ? run : undefined;
}

/** Minimum time before a confirmation counts, against double clicks. */
const answerMs = 300;

/** Makes calls, one at a time. `isAsking`: a call that writes waits for its confirmation. */
function useCalls(query: QueryContract, body: string) {
  const [run, setRun] = useState<Run>({});
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const [running, setRunning] = useState<AbortController | undefined>();
  const [unconfirmed, setUnconfirmed] = useState<{ body: string; at: number } | undefined>();
  // A changed body needs another confirmation.
  const isAsking = unconfirmed?.body === body;
  const start = async (mode: Mode, isLink = false): Promise<void> => {
    if (query.writes && mode !== 'explain') {
      const now = performance.now();
      if (!isAsking) setUnconfirmed({ body, at: now });
      // The second click of a double click is no confirmation.
      if (!isAsking || now - unconfirmed.at < answerMs) return;
    }
    setUnconfirmed(undefined);
    if (running !== undefined) return;
    const own = new AbortController();
    const visit = visits.value;
    setRunning(own);
    setErrors(new Map());
    try {
      const done = await carryOut(query, mode, body, own.signal);
      setRun(done);
      // The result is dropped if another view was opened meanwhile.
      const { page, name } = route.value;
      const isHere = page === 'query' && name === query.name && visits.value === visit;
      if (isHere) noteInAddress(query, mode, done, isLink);
    } catch (error) {
      if (own.signal.aborted) return;
      setRun({ error });
      if (error instanceof ApiError) setErrors(errorsByField(error));
    } finally {
      setRunning(undefined);
    }
  };
  const forgive = (name: string): void => {
    const isOf = (path: string): boolean => path === `/${name}` || path.startsWith(`/${name}/`);
    setErrors((old) => new Map([...old].filter(([path]) => !isOf(path))));
  };
  const drop = (): void => setUnconfirmed(undefined);
  return { run, errors, forgive, running, isAsking, drop, start };
}

export function Runner({ query }: { query: QueryContract }) {
  const members = useMemo(() => membersOf(query.parameters), [query]);
  const { params } = route.value;
  const [typed, setTyped] = useState<Record<string, Typed>>(() => typedOf(members, params));
  const raw = params.get('body');
  const body = raw ?? printBody(members, typed);
  const { run, errors, forgive, running, isAsking, drop, start } = useCalls(query, body);
  const change = (name: string, next: Typed): void => {
    const all = { ...typed, [name]: next };
    setTyped(all);
    drop();
    forgive(name);
    setParams({ ...addressOf(members, all), run: undefined });
  };
  useEffect(() => {
    const mode = modeOf(params.get('run'), query);
    if (mode !== undefined) void start(mode, true);
  }, []);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') drop();
    if (event.key !== 'Enter') return;
    // A key that is held down counts one time. In a text field, Enter makes a new line.
    if (event.repeat && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
    if ((event.metaKey || event.ctrlKey) && !event.repeat) void start('run');
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void start('run');
  };
  return (
    <section class="runner" onKeyDown={onKey}>
      <form class="card" onSubmit={onSubmit}>
        <Head query={query} />
        {raw === null ? (
          <Fields members={members} path="" typed={typed} errors={errors} change={change} />
        ) : (
          <RawBody text={raw} />
        )}
        {isAsking && (
          <p class="note amber" role="alert">
            {query.name} changes data. Run it?
          </p>
        )}
        <Buttons isAsking={isAsking} isBusy={running !== undefined} start={start}>
          {members.length > 0 && (
            <button
              type="button"
              class="quiet"
              onClick={() => setParams({ body: raw === null ? body : undefined, run: undefined })}
            >
              {raw === null ? 'as JSON' : 'as form'}
            </button>
          )}
        </Buttons>
        <CopyCode path={query.name} body={body} hasKey={status.value?.keys === true} />
        <Recent query={query.name} />
        {isAdmin.value && <QueryText name={query.name} />}
      </form>
      <div class="answer card" aria-live="polite">
        {running ? (
          <Running stop={() => running.abort()} writes={query.writes} />
        ) : (
          <Facts run={run} />
        )}
        {run.error !== undefined && <p class="note bad">{messageOf(run.error)}</p>}
        <Result run={run} />
      </div>
    </section>
  );
}

/** Shown after a moment only, so that fast replies do not flicker. */
function Running({ stop, writes }: { stop: () => void; writes: boolean }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 250);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return <p class="facts" />;
  return (
    <p class="facts">
      <span>running …</span>
      {!writes && (
        <button type="button" class="small" onClick={stop}>
          stop
        </button>
      )}
    </p>
  );
}

function Facts({ run: { answer } }: { run: Run }) {
  if (answer === undefined) return null;
  const tables = tablesIn(answer.value);
  const rows = tables.reduce((sum, [, list]) => sum + list.length, 0);
  return (
    <p class="facts">
      {tables.length > 0 && <span>{counted(rows, 'row')}</span>}
      <span>{millis(answer.ms)}</span>
      <span>{bytes(answer.bytes)}</span>
    </p>
  );
}

function Head({ query }: { query: QueryContract }) {
  return (
    <>
      <div class="spread">
        <h2>{query.name}</h2>
        <span class="actions">
          <span class="chip">{query.writes ? 'writes' : 'reads'}</span>
          <span class="chip">cost {query.cost}</span>
          {query.mcp && <span class="chip">mcp</span>}
        </span>
      </div>
      {query.doc !== '' && <p class="doc">{query.doc}</p>}
    </>
  );
}

function RawBody({ text }: { text: string }) {
  return (
    <label>
      Body <small>JSON</small>
      <textarea
        rows={8}
        value={text}
        onInput={(event) => setParams({ body: event.currentTarget.value, run: undefined })}
      />
    </label>
  );
}

interface ButtonsProps {
  isAsking: boolean;
  isBusy: boolean;
  start: (mode: Mode) => Promise<void>;
  children: unknown;
}

const forAdmins = 'Plans need a key with the role admin';

function Buttons({ isAsking, isBusy, start, children }: ButtonsProps) {
  const mayPlan = isAdmin.value;
  return (
    <div class="actions">
      <button type="submit" class={isAsking ? 'danger' : 'primary'} disabled={isBusy}>
        {isAsking ? 'Yes, write' : 'Run'}
      </button>
      <button
        type="button"
        disabled={!mayPlan}
        title={mayPlan ? 'Shows the plan' : forAdmins}
        onClick={() => void start('explain')}
      >
        Explain
      </button>
      <button
        type="button"
        disabled={!mayPlan}
        title={mayPlan ? 'Runs the query and measures each step' : forAdmins}
        onClick={() => void start('profile')}
      >
        Profile
      </button>
      {children as never}
    </div>
  );
}

function Recent({ query }: { query: string }) {
  const list = calls.value.filter((call) => call.query === query);
  if (list.length < 2) return null;
  return (
    <label>
      Recent
      <select
        onChange={(event) => {
          const { value } = event.currentTarget;
          if (value !== '') location.hash = value;
        }}
      >
        <option value="">calls of this tab</option>
        {list.map((call) => (
          <option key={call.at} value={call.address}>
            {argumentsIn(call)}
          </option>
        ))}
      </select>
    </label>
  );
}
