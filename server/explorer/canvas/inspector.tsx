// The selection on the canvas. For one element: its properties and the number of edges by type. For two
// elements: the shortest path between them.
import { useEffect, useRef, useState } from 'preact/hooks';
import { whole } from '../model/format-number.js';
import type { Subgraph } from '../model/graph-model.js';
import { type Item, isEdge, titleOf } from '../model/item.js';
import { explore, messageOf } from '../state/api.js';
import { useAnswer } from '../components/use-request.js';
import { Properties } from '../components/properties.js';
import { Waiting } from '../components/loading-or-error.js';
import { linkTo } from '../state/router.js';
import { type CanvasContext, type CanvasProps, chosenItems, expand } from './canvas-context.js';

interface Degree {
  label: string;
  direction: 'in' | 'out';
  count: number;
}

const textMax = 280;
const amounts = [25, 100, 500];

export function Inspector({ context, version }: CanvasProps & { context: CanvasContext }) {
  const items = chosenItems(context.model);
  if (items.length === 0) return null;
  return (
    <aside class="inspector" aria-label="Selection">
      {items.length === 1 && isEdge(items[0]!) ? (
        <OneEdge context={context} edge={items[0]!} />
      ) : items.length === 1 ? (
        <One context={context} version={version} item={items[0]!} />
      ) : (
        <Several context={context} items={items} />
      )}
    </aside>
  );
}

function One({ context, item }: CanvasProps & { context: CanvasContext; item: Item }) {
  const { model, changed } = context;
  const isPinned = model.pinned.has(item.id);
  const pin = (): void => {
    if (isPinned) model.pinned.delete(item.id);
    else model.pinned.add(item.id);
    changed();
  };
  return (
    <>
      <p class="kind">{item.label}</p>
      <h2>
        <bdi>{titleOf(item)}</bdi>
      </h2>
      <Whole item={item} />
      <Degrees context={context} item={item} />
      <p class="actions">
        <button type="button" class="small" aria-pressed={isPinned} onClick={pin}>
          {isPinned ? 'unpin' : 'pin'}
        </button>
        <button
          type="button"
          class="small"
          disabled={model.expansionCount(item.id) === 0}
          onClick={() => {
            if (model.collapse(item.id)) changed();
            else
              context.showMessage(
                'Nothing to collapse: every neighbor is also connected elsewhere.',
              );
          }}
        >
          collapse
        </button>
        <button
          type="button"
          class="small"
          onClick={() => {
            model.hide([item.id]);
            changed();
          }}
        >
          hide
        </button>
        {context.isInset && (
          <a class="small" href={linkTo('graph', '', { around: item.id })}>
            open in Graph
          </a>
        )}
      </p>
      <p class="hint">
        Shift-click a second element, or press Shift with an arrow key, to find the path between
        them. E moves through the edges.
      </p>
    </>
  );
}

const Whole = ({ item }: { item: Item }) => (
  <Properties item={item} lengthMax={textMax}>
    <div>
      <dt>id</dt>
      <dd class="mono">{item.id}</dd>
    </div>
  </Properties>
);

/** Shows an edge: its properties and its two endpoints. */
function OneEdge({ context, edge }: { context: CanvasContext; edge: Item }) {
  const { model, changed } = context;
  const choose = (id: string): void => {
    model.chosen.clear();
    model.chosen.add(id);
    changed();
  };
  const ends = [edge.from_node!, edge.to_node!].flatMap((id) => model.nodes.get(id) ?? []);
  return (
    <>
      <p class="kind">edge</p>
      <h2>{edge.label}</h2>
      <ul class="ends">
        {ends.map((end, at) => (
          <li key={at}>
            <small>{at === 0 ? 'from' : 'to'}</small>
            <button type="button" class="quiet" onClick={() => choose(end.id)}>
              <bdi>{titleOf(end)}</bdi>
            </button>
          </li>
        ))}
      </ul>
      <Whole item={edge} />
    </>
  );
}

interface Taken {
  count: number;
  more: string | null;
}

/** Lists the edge types of an element, with buttons that load some of the edges. */
function Degrees({ context, item }: { context: CanvasContext; item: Item }) {
  const { id } = item;
  const ask = () => explore<{ degrees: Degree[] }>('neighbours', { id, limit: 0 });
  const { value, error } = useAnswer(ask, [id]);
  const [amount, setAmount] = useState(amounts[0]!);
  const [pages, setPages] = useState(new Map<string, Taken>());
  const count = context.model.expansionCount(item.id);
  const before = useRef(count);
  // Collapsed neighbors can be loaded again.
  useEffect(() => {
    if (count < before.current) setPages(new Map());
    before.current = count;
  }, [count]);
  if (value === undefined) return <Waiting error={error} />;
  const { degrees } = value;
  if (degrees.length === 0) return <p class="hint">It has no edges.</p>;
  const more = async ({ label, direction, count }: Degree): Promise<void> => {
    const key = `${direction} ${label}`;
    const page = pages.get(key);
    const options = { label, direction, limit: amount };
    const next = await expand(
      context,
      item.id,
      page?.more ? { ...options, after: page.more } : options,
    );
    const taken = Math.min(count, (page?.count ?? 0) + amount);
    setPages(new Map(pages).set(key, { count: taken, more: next }));
  };
  return (
    <section class="degrees" aria-label="Edges">
      <ul>
        {degrees.map((degree) => (
          <DegreeRow
            key={`${degree.direction} ${degree.label}`}
            degree={degree}
            taken={pages.get(`${degree.direction} ${degree.label}`)}
            more={() => void more(degree)}
          />
        ))}
      </ul>
      {degrees.some(({ count }) => count > amounts[0]!) && (
        <label class="amount">
          at a time
          <select
            class="small"
            value={amount}
            onChange={(event) => setAmount(Number(event.currentTarget.value))}
          >
            {amounts.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
    </section>
  );
}

function DegreeRow(props: { degree: Degree; taken: Taken | undefined; more: () => void }) {
  const { degree, taken, more } = props;
  const { label, direction, count } = degree;
  const left = taken === undefined ? count : taken.more === null ? 0 : count - taken.count;
  const rest = taken === undefined ? 'show' : `+${whole(left)} left`;
  const text = left === 0 ? 'all here' : rest;
  return (
    <li>
      <span>
        {direction === 'out' ? '→' : '←'} {label} <b>{whole(count)}</b>
      </span>
      <button
        type="button"
        class="small"
        disabled={left === 0}
        aria-label={`${text}: ${direction} ${label}`}
        onClick={more}
      >
        {text}
      </button>
    </li>
  );
}

function Several({ context, items }: { context: CanvasContext; items: Item[] }) {
  const { model, changed, showMessage } = context;
  const path = async (): Promise<void> => {
    const [from, to] = items;
    try {
      const found = await explore<Subgraph>('graph', { from: from!.id, to: to!.id });
      model.add(found);
      model.chosen.clear();
      for (const { id } of found.nodes) model.chosen.add(id);
      changed(from!.id);
      showMessage(`The shortest path has ${found.edges.length} edges.`);
    } catch (error) {
      showMessage(messageOf(error));
    }
  };
  return (
    <>
      <p class="kind">{items.length} chosen</p>
      <ul class="chosen">
        {items.slice(0, 12).map((item) => (
          <li key={item.id}>
            <bdi>{titleOf(item)}</bdi> <small>{item.label}</small>
          </li>
        ))}
      </ul>
      <p class="actions">
        {items.length === 2 && (
          <button type="button" class="small" onClick={() => void path()}>
            shortest path
          </button>
        )}
        <button
          type="button"
          class="small"
          onClick={() => {
            model.hide(model.chosen);
            changed();
          }}
        >
          hide
        </button>
      </p>
    </>
  );
}
