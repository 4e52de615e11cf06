// The search box of every page. It finds elements by id, by the prefix of an indexed text and by words, and
// queries and types by name. The key `/` focuses it.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { explore } from '../state/api.js';
import { type Item, titleOf } from '../model/item.js';
import { goTo, visits } from '../state/router.js';
import { contract, schema } from '../state/program.js';

interface Hit {
  kind: string;
  title: string;
  go: () => void;
}

const hitsMax = 12;
const restMs = 120;

function namedHits(text: string): Hit[] {
  const has = (name: string): boolean => name.toLowerCase().includes(text.toLowerCase());
  const queries = (contract.value?.queries ?? []).filter(({ name }) => has(name));
  const types = (schema.value ?? []).filter(({ name }) => has(name));
  return [
    ...types.slice(0, 3).map(({ name }) => ({
      kind: 'type',
      title: name,
      go: () => goTo('schema', name),
    })),
    ...queries.slice(0, 4).map(({ name }) => ({
      kind: 'query',
      title: name,
      go: () => goTo('query', name),
    })),
  ];
}

async function findHits(text: string): Promise<Hit[]> {
  const found = await explore<{ items: { item: Item }[] }>('search', { text, limit: hitsMax });
  const items = found.items.map(({ item }) => ({
    kind: item.label,
    title: titleOf(item),
    go: () => goTo('graph', '', { around: item.id }),
  }));
  return [...namedHits(text), ...items];
}

/** `/` moves the cursor into the search box. */
function useSlash(input: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const within = (event.target as HTMLElement).closest('input, textarea, select');
      if (event.key !== '/' || within !== null) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

interface Found {
  /** Text for which the hits were requested. */
  text: string;
  hits: Hit[];
}

/** Returns the hits for a text, a moment after the last key press; undefined for an empty text. */
function useHits(text: string): [Found | undefined, (found: undefined) => void] {
  const [found, setFound] = useState<Found | undefined>();
  useEffect(() => {
    if (text.trim() === '') {
      setFound(undefined);
      return undefined;
    }
    let isCurrent = true;
    const timer = setTimeout(() => {
      findHits(text.trim())
        .catch(() => namedHits(text.trim()))
        .then((hits) => isCurrent && setFound({ text, hits }));
    }, restMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  return [found, setFound];
}

export function Finder() {
  const [text, setText] = useState('');
  const [found, setFound] = useHits(text);
  const hits = found?.hits;
  // Hits of an earlier text are shown, but cannot be chosen.
  const isCurrent = found?.text === text;
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useSlash(input);
  // The hits close when another view opens.
  useEffect(() => setFound(undefined), [visits.value]);
  const isEntered = useRef(false);
  useEffect(() => {
    isEntered.current = false;
    setAt(0);
  }, [text]);
  // If Enter is pressed before the reply, it applies when the reply arrives.
  useEffect(() => {
    if (isCurrent && isEntered.current) choose(hits?.[0]);
  }, [found]);
  const choose = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    setText('');
    setFound(undefined);
    input.current?.blur();
    hit.go();
  };
  const onKey = (event: KeyboardEvent): void => {
    const count = hits?.length ?? 0;
    if (event.key === 'ArrowDown') setAt((at + 1) % Math.max(1, count));
    else if (event.key === 'ArrowUp') setAt((at + count - 1) % Math.max(1, count));
    else if (event.key === 'Enter' && !isCurrent) isEntered.current = true;
    else if (event.key === 'Enter') choose(hits?.[at]);
    else if (event.key === 'Escape') setText('');
    else return;
    event.preventDefault();
  };
  return (
    <div class="finder" role="search">
      <input
        ref={input}
        type="text"
        placeholder="Search  /"
        aria-label="Search elements, types and queries"
        role="combobox"
        aria-expanded={hits !== undefined}
        aria-controls="hits"
        aria-activedescendant={hits?.length ? `hit-${at}` : undefined}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKey}
        onBlur={() => setTimeout(() => setFound(undefined), 150)}
      />
      <Hits hits={hits} at={at} isBusy={!isCurrent} choose={choose} />
    </div>
  );
}

interface HitsProps {
  hits: Hit[] | undefined;
  /** The hit that Enter chooses. */
  at: number;
  /** The hits belong to an earlier text. */
  isBusy: boolean;
  choose: (hit: Hit) => void;
}

function Hits({ hits, at, isBusy, choose }: HitsProps) {
  return (
    <ul id="hits" role="listbox" aria-label="Found" aria-busy={isBusy} hidden={hits === undefined}>
      {hits?.length === 0 && (
        <li class="none" role="option" aria-disabled="true" aria-selected="false">
          No matches.
        </li>
      )}
      {hits?.map((hit, index) => (
        <li
          key={index}
          id={`hit-${index}`}
          role="option"
          aria-selected={index === at}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(hit);
          }}
        >
          <span>
            <bdi>{hit.title}</bdi>
          </span>
          <small>{hit.kind}</small>
        </li>
      ))}
    </ul>
  );
}
