// The page Vectors: a map of the vectors of a type, with the recall of its index. Search results and the
// vectors of an opened result are highlighted.
import { useEffect, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import type { MapProps } from '../canvas/map-view.js';
import { whole } from '../model/format-number.js';
import { packIds, unpackIds } from '../model/packed-ids.js';
import { isId } from '../model/item.js';
import type { VectorMap } from '../model/vector-map.js';
import { Later } from '../components/lazy.js';
import { NeedsAdmin, NeedsWhole, Waiting } from '../components/loading-or-error.js';
import { comebacks, explore, messageOf } from '../state/api.js';
import { findVectors } from '../state/semantic-search.js';
import { goTo, linkTo, route, setParams } from '../state/router.js';
import { isAdmin, isScoped, status } from '../state/server.js';

/** Loaded when first needed, because the map needs the largest libraries. */
const loadDrawing = (): Promise<ComponentType<MapProps>> =>
  import('../canvas/map-view.js').then(({ MapView }) => MapView);

export function Vectors() {
  const { name } = route.value;
  const types = (status.value?.elements ?? []).filter(({ kind }) => kind === 'vector');
  const filled = types.filter(({ count }) => count > 0);
  if (isScoped.value) return <NeedsWhole what="The map of vectors" />;
  if (!isAdmin.value) return <NeedsAdmin what="The map of vectors" />;
  const type = name === '' ? (filled[0] ?? types[0]) : types.find((one) => one.type === name);
  if (type === undefined && types.length > 0) {
    return (
      <div class="empty">
        <h2>The vector type {name} no longer exists</h2>
        <p>
          <a href={linkTo('vectors')}>See the map of {(filled[0] ?? types[0])!.type}</a>
        </p>
      </div>
    );
  }
  if (type === undefined) {
    return (
      <div class="empty">
        <h2>This project has no vectors</h2>
        <p>
          Declare a type, <code>V::Passage {'{ text: String }'}</code>, and add some with{' '}
          <code>{'AddV<Passage>(Embed(text), {text: text})'}</code>.
        </p>
      </div>
    );
  }
  if (type.count === 0) {
    return (
      <div class="empty">
        <h2>There is no {type.type} yet</h2>
        <p>
          Run a query that adds some on the page <a href={linkTo('query')}>Query</a>.
        </p>
      </div>
    );
  }
  return <TypeMap key={type.type} type={type.type} types={filled.map((one) => one.type)} />;
}

const samplesDefault = '2000';
const sampleSizes = ['500', '2000', '5000'];

/** Requests the map of a type with some vectors that must be in it. */
function useVectorMap(type: string, samples: string, hits: readonly string[]) {
  const [map, setMap] = useState<VectorMap | undefined>();
  const [error, setError] = useState('');
  const known = new Set(map?.points.map(({ id }) => id));
  const missing = hits.some((id) => !known.has(id));
  useEffect(() => {
    if (map !== undefined && !missing) return undefined;
    let isCurrent = true;
    explore<VectorMap>('vector-map', { type, samples: Number(samples), ids: hits })
      .then((found) => {
        if (!isCurrent) return;
        setMap(found);
        setError('');
      })
      .catch((error: unknown) => isCurrent && setError(messageOf(error)));
    return () => {
      isCurrent = false;
    };
  }, [hits.join(), comebacks.value]);
  return { map, error };
}

function TypeMap({ type, types }: { type: string; types: string[] }) {
  const { params } = route.value;
  const packed = params.get('hits');
  const hits = packed === null ? undefined : unpackIds(packed);
  const requested = params.get('samples') ?? '';
  const samples = sampleSizes.includes(requested) ? requested : samplesDefault;
  return <MapOfSize key={samples} type={type} types={types} samples={samples} hits={hits} />;
}

interface MapOfSizeProps {
  type: string;
  types: string[];
  samples: string;
  hits: string[] | undefined;
}

function MapOfSize({ type, types, samples, hits }: MapOfSizeProps) {
  const requested = route.value.params.get('at');
  const at = isId(requested) ? requested : undefined;
  const colour = route.value.params.get('by') ?? '';
  const { map, error } = useVectorMap(type, samples, [...(hits ?? []), ...(at ? [at] : [])]);
  return (
    <div class="vectors">
      <div class="map-head">
        <Facts type={type} types={types} samples={samples} map={map} />
        <Search type={type} found={hits?.length} />
      </div>
      {(error !== '' || map === undefined) && <Waiting text="Drawing" error={error} />}
      {map !== undefined && <Later load={loadDrawing} props={{ type, map, hits, at, colour }} />}
    </div>
  );
}

interface FactsProps extends Omit<MapOfSizeProps, 'hits'> {
  map: VectorMap | undefined;
}

function Facts({ type, types, samples, map }: FactsProps) {
  return (
    <div class="facts">
      {types.length > 1 ? (
        <select
          aria-label="Vector type"
          value={type}
          onChange={(event) => goTo('vectors', event.currentTarget.value)}
        >
          {types.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <h2>{type}</h2>
      )}
      {map !== undefined && (
        <>
          <span>
            {whole(map.points.length)} of {whole(map.of)} × {map.dimensions}
          </span>
          <span title="Share of the ten nearest neighbors in this sample that the index found">
            recall@10 <b>{map.recall === null ? '–' : map.recall.toFixed(3)}</b>
          </span>
          {map.of > Number(sampleSizes[0]) && (
            <label class="amount">
              sample
              <select
                class="small"
                value={samples}
                onChange={(event) => setParams({ samples: event.currentTarget.value })}
              >
                {sampleSizes.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </label>
          )}
        </>
      )}
    </div>
  );
}

function Search({ type, found }: { type: string; found: number | undefined }) {
  const [text, setText] = useState(route.value.params.get('find') ?? '');
  // The scores of a search belong to its own hits. An address with other hits has its own scores.
  const [message, setMessage] = useState({ text: '', hits: '' });
  const hitsNow = route.value.params.get('hits') ?? '';
  const showMessage = (text: string, hits = hitsNow): void => setMessage({ text, hits });
  const search = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (text.trim() === '') {
      showMessage('');
      setParams({ find: undefined, hits: undefined });
      return;
    }
    const startRoute = route.value;
    try {
      const { items, by } = await findVectors(type, text.trim());
      const hits = packIds(items.map(({ id }) => id));
      showMessage(items.length === 0 ? 'nothing found' : `${items.length} by ${by}`, hits);
      setParams({ find: text.trim(), hits: hits || undefined }, startRoute);
    } catch (error) {
      showMessage(messageOf(error));
    }
  };
  return (
    <form class="map-search" role="search" onSubmit={(event) => void search(event)}>
      <span class="hint" role="status">
        {(message.hits === hitsNow && message.text) || (found === undefined ? '' : `${found} lit`)}
      </span>
      <input
        type="text"
        placeholder={`Search in ${type}`}
        aria-label={`Search in ${type}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Search</button>
    </form>
  );
}
