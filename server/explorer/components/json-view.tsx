// Shows a value as a tree that can be opened and closed. Long strings and lists show their beginning, so that
// no result makes the page slow. Results are always inserted as text, never as markup.
import { useState } from 'preact/hooks';
import { isId } from '../model/item.js';
import { whole } from '../model/format-number.js';
import { beginningOf, shortened } from '../model/short-text.js';
import { linkTo } from '../state/router.js';

const textMax = 400;
/**
 * Number of items at first. Each request for more multiplies it by ten, so that every end is a few clicks
 * away.
 */
const expandedText = 20_000;
const initialEntries = 100;
/** Deeper values are closed at first. */
const openDepth = 3;
const openEntries = 30;

export function JsonView({ value }: { value: unknown }) {
  return (
    <div class="json" tabIndex={0} role="region" aria-label="Result as JSON">
      <Value value={value} depth={0} />
    </div>
  );
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (typeof value === 'string') return <Text text={value} />;
  if (value === null || typeof value !== 'object') {
    return <span class={value === null ? 'null' : 'plain'}>{String(value)}</span>;
  }
  return <Branch value={value} depth={depth} />;
}

function Text({ text }: { text: string }) {
  const [shownMax, setShownMax] = useState(textMax);
  const isLink: boolean = isId(text);
  if (isLink) {
    return (
      <a class="id" href={linkTo('graph', '', { around: text })} title="Show in the graph">
        "{text}"
      </a>
    );
  }
  // Shown with JSON escapes, so that quotes and line ends inside the text are visible.
  const shown = JSON.stringify(beginningOf(text, shownMax)).slice(1, -1);
  return (
    <span class="text">
      <bdi>"{shown}</bdi>
      {text.length > shownMax ? '…' : '"'}
      {text.length > shownMax && (
        <button
          type="button"
          class="small"
          onClick={() => setShownMax(Math.max(expandedText, 10 * shownMax))}
        >
          more of {whole(text.length)} characters
        </button>
      )}
    </span>
  );
}

function Branch({ value, depth }: { value: object; depth: number }) {
  const isList = Array.isArray(value);
  const entries = isList ? value.length : Object.keys(value).length;
  const [isOpen, setOpen] = useState(depth < openDepth && (depth < 2 || entries < openEntries));
  const [shownMax, setShownMax] = useState(initialEntries);
  const [open, close] = isList ? '[]' : '{}';
  if (entries === 0) return <span class="plain">{`${open}${close}`}</span>;
  const list: [string, unknown][] = isList
    ? value.slice(0, shownMax).map((item, at) => [String(at), item])
    : Object.entries(value).slice(0, shownMax);
  return (
    <>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? '▾' : '▸'} {open}
        {!isOpen && `… ${whole(entries)} …${close}`}
      </button>
      {isOpen && (
        <ul>
          {list.map(([name, inner]) => (
            <li key={name}>
              {!isList && (
                <>
                  <span class="name">
                    <bdi>{shortened(name, textMax)}</bdi>
                  </span>
                  {': '}
                </>
              )}
              <Value value={inner} depth={depth + 1} />
            </li>
          ))}
          {entries > shownMax && (
            <li>
              <button type="button" class="small" onClick={() => setShownMax(shownMax + 1000)}>
                {whole(entries - shownMax)} more
              </button>
            </li>
          )}
        </ul>
      )}
      {isOpen && <span class="plain">{close}</span>}
    </>
  );
}
