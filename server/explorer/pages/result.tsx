// Shows the result of a call in four views. The address contains the view. A view without content says why.
import type { Answer } from '../state/api.js';
import { whole } from '../model/format-number.js';
import { itemsIn } from '../model/item.js';
import { packIds } from '../model/packed-ids.js';
import { schema } from '../state/program.js';
import { linkTo, route, setParams } from '../state/router.js';
import { isAdmin } from '../state/server.js';
import { Canvas } from '../canvas/lazy-canvas.js';
import { JsonView } from '../components/json-view.js';
import { type Explanation, PlanTree } from '../components/plan-tree.js';
import { Table, tablesIn } from '../components/table.js';

export interface Run {
  answer?: Answer;
  plan?: Explanation;
  error?: unknown;
}

const views = ['json', 'table', 'graph', 'plan'] as const;
type View = (typeof views)[number];
const names: Record<View, string> = { json: 'JSON', table: 'Table', graph: 'Graph', plan: 'Plan' };

/** Maximum bytes of a result that is shown. A larger one is offered as a file. */
const drawnMax = 8 * 2 ** 20;
const itemsMax = 2_000;

export function Result({ run }: { run: Run }) {
  const { answer, plan } = run;
  if (answer === undefined && plan === undefined) {
    return run.error === undefined ? (
      <div class="empty">
        <h2>Run it to see its result</h2>
        <p>Ctrl or ⌘ with Enter also runs it.</p>
      </div>
    ) : null;
  }
  const requested = views.find((one) => one === route.value.params.get('view'));
  const view = requested ?? (plan && !answer ? 'plan' : defaultView(answer!.value));
  return (
    <>
      <div class="tabs" role="tablist" aria-label="View of the result" onKeyDown={onTabKey}>
        {views.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={view === one}
            tabIndex={view === one ? 0 : -1}
            data-view={one}
            onClick={() => setParams({ view: one })}
          >
            {names[one]}
          </button>
        ))}
        <MapLink value={answer?.value} />
      </div>
      <div role="tabpanel" aria-label={names[view]}>
        {view === 'plan' ? <PlanView plan={plan} /> : <AnswerView answer={answer} view={view} />}
      </div>
    </>
  );
}

/** Arrow keys switch between the views. */
function onTabKey(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  const at = views.indexOf((event.target as HTMLElement).dataset.view as View);
  if (step === 0 || at < 0) return;
  event.preventDefault();
  const next = views[(at + step + views.length) % views.length]!;
  setParams({ view: next });
  const tabs = event.currentTarget as HTMLElement;
  tabs.querySelector<HTMLElement>(`[data-view=${next}]`)?.focus();
}

const hitsMax = 500;

/** Links to the vectors of a result on the map. */
function MapLink({ value }: { value: unknown }) {
  const types = new Set(
    (schema.value ?? []).flatMap(({ kind, name }) => (kind === 'vector' ? [name] : [])),
  );
  if (!isAdmin.value || types.size === 0 || value === undefined) return null;
  const vectors = [...itemsIn(value, itemsMax).values()].filter(
    (item) => item !== undefined && types.has(item.label),
  );
  const type = vectors[0]?.label;
  if (type === undefined) return null;
  const ids = vectors.flatMap((item) => (item!.label === type ? [item!.id] : []));
  return <a href={linkTo('vectors', type, { hits: packIds(ids.slice(0, hitsMax)) })}>Map</a>;
}

const defaultView = (value: unknown): View => (tablesIn(value).length > 0 ? 'table' : 'json');

function PlanView({ plan }: { plan: Explanation | undefined }) {
  if (plan !== undefined) return <PlanTree plan={plan} />;
  return (
    <p class="hint">
      Explain shows the plan. Profile runs the query and shows the time of each step.
    </p>
  );
}

function AnswerView({ answer, view }: { answer: Answer | undefined; view: View }) {
  if (answer === undefined) return <p class="hint">Run it to see its result.</p>;
  if (answer.bytes > drawnMax) return <AsFile text={answer.text} />;
  if (view === 'json') return <JsonView value={answer.value} />;
  if (view === 'graph') return <AnswerGraph value={answer.value} />;
  const tables = tablesIn(answer.value);
  if (tables.length === 0)
    return <p class="hint">The result is not a list. JSON shows all of it.</p>;
  return (
    <>
      {tables.map(([name, rows]) => (
        <section key={name} class="rows-of">
          <h3>
            {name} <small>{whole(rows.length)}</small>
          </h3>
          {rows.length === 0 ? <p class="hint">No matches.</p> : <Table rows={rows} />}
        </section>
      ))}
    </>
  );
}

function AnswerGraph({ value }: { value: unknown }) {
  const ids = [...itemsIn(value, itemsMax).keys()];
  if (ids.length === 0) {
    return (
      <p class="hint">
        The result contains no elements. Queries that return elements or ids are drawn here.
      </p>
    );
  }
  return <Canvas key={ids.join().slice(0, 4000) + ids.length} start={{ ids }} isInset />;
}

function AsFile({ text }: { text: string }) {
  const save = (): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    link.download = 'answer.json';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <div class="empty">
      <h2>The result is larger than 8 MiB</h2>
      <p>Hidden to keep the page fast.</p>
      <p class="actions">
        <button type="button" onClick={save}>
          Save as a file
        </button>
      </p>
    </div>
  );
}
