// The page Schema: a diagram of the types, and one type with its properties, the queries that use it, and a
// list of its elements.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { counted, whole } from '../model/format-number.js';
import { marksIn } from '../model/property-marks.js';
import type { SchemaType } from '../model/status.js';
import { Diagram } from '../canvas/diagram.js';
import { useAnswer } from '../components/use-request.js';
import { Table } from '../components/table.js';
import { HowTypesBegin, Waiting, WaitingForProgram } from '../components/loading-or-error.js';
import type { QueryContract } from '../model/contract.js';
import type { Item } from '../model/item.js';
import { textOfQuery } from '../model/source-text.js';
import { comebacks, explore, messageOf } from '../state/api.js';
import { contract, schema } from '../state/program.js';
import { linkTo, route, setParams, visits } from '../state/router.js';
import { isAdmin, isScoped, status } from '../state/server.js';
import { type SourceFile, readSources } from '../state/sources.js';

export function Schema() {
  const types = schema.value ?? [];
  const { name } = route.value;
  const chosen = types.find((type) => type.name === name);
  const counts = useMemo(
    () =>
      new Map(status.value?.elements?.map(({ kind, type, count }) => [`${kind} ${type}`, count])),
    [status.value?.elements],
  );
  const files = useFiles();
  const marks = useMemo(() => marksIn(files), [files]);
  if (schema.value === undefined) return <WaitingForProgram />;
  if (types.length === 0) {
    return (
      <div class="empty">
        <h2>There are no types to show</h2>
        {isScoped.value ? (
          <p>A key that is limited to some queries sees none.</p>
        ) : (
          <HowTypesBegin />
        )}
      </div>
    );
  }
  return (
    <div class="schema">
      <Diagram types={types} counts={counts} marks={marks} chosen={name} />
      {chosen ? (
        <TypePanel
          key={chosen.name}
          type={chosen}
          count={counts.get(`${chosen.kind} ${name}`)}
          files={files}
          marks={marks.get(name)}
        />
      ) : (
        <p class="hint">
          {name !== '' && `The type ${name} no longer exists. `}
          Choose a type to see its properties, its queries and its elements.
        </p>
      )}
    </div>
  );
}

const noFiles: SourceFile[] = [];

/** Returns the sources in use, if the key may read them. */
function useFiles(): SourceFile[] {
  const read = async () => (isAdmin.value ? (await readSources()).used : noFiles);
  return useAnswer(read, [status.value?.reloads]).value ?? noFiles;
}

/** Returns the queries whose contract or text uses a type. Only administrators see texts. */
function naming(type: string, files: readonly SourceFile[]): QueryContract[] {
  const word = new RegExp(`\\b${type}\\b`);
  const textOf = (name: string): string => textOfQuery(files, name)?.text ?? '';
  return (contract.value?.queries ?? []).filter(
    (query) => word.test(JSON.stringify(query)) || word.test(textOf(query.name)),
  );
}

interface TypePanelProps {
  type: SchemaType;
  count: number | undefined;
  files: readonly SourceFile[];
  marks: ReadonlyMap<string, string[]> | undefined;
}

function TypePanel({ type, count, files, marks }: TypePanelProps) {
  const { name, kind, properties } = type;
  const queries = naming(name, files);
  return (
    <section class="type-panel" aria-label={name}>
      <div class="spread">
        <h2>
          {name} <small>{kind}</small>
        </h2>
        {count !== undefined && <span class="chip">{counted(count, 'element')}</span>}
      </div>
      {type.from !== undefined && (
        <p>
          <a href={linkTo('schema', type.from)}>{type.from}</a> →{' '}
          <a href={linkTo('schema', type.to)}>{type.to}</a>
        </p>
      )}
      <div class="pair">
        <div class="card">
          <h3>Properties</h3>
          {properties.length === 0 && <p class="hint">It has no properties.</p>}
          <dl>
            {properties.map((property) => (
              <div key={property.name}>
                <dt>
                  {property.name} <small>{marks?.get(property.name)?.join(' ')}</small>
                </dt>
                <dd class="mono">{property.type}</dd>
              </div>
            ))}
          </dl>
        </div>
        <div class="card">
          <h3>Queries that use it</h3>
          {queries.length === 0 && <p class="hint">No matches.</p>}
          <ul class="inline">
            {queries.map((query) => (
              <li key={query.name}>
                <a href={linkTo('query', query.name)}>{query.name}</a>
              </li>
            ))}
          </ul>
        </div>
      </div>
      {!isScoped.value && <Browse type={name} />}
    </section>
  );
}

interface Page {
  count: number;
  items: Item[];
  more: string | null;
}

const pageRows = 50;
/** Maximum number of rows of one request. */
const pageMax = 500;
/** Maximum number of rows in the address. A link loads no more. */
const linkRows = 5_000;

function Browse({ type }: { type: string }) {
  const [rows, setRows] = useState<Item[] | undefined>();
  const [more, setMore] = useState<string | null>(null);
  const [count, setCount] = useState(0);
  const [error, setError] = useState('');
  const startRoute = route.value;
  /** Reads more rows until `wanted` are loaded. */
  const read = async (here: Item[], after: string | undefined, wanted: number): Promise<void> => {
    try {
      const limit = Math.min(wanted - here.length, pageMax);
      const page = await explore<Page>('elements', { type, limit, after });
      const all = [...here, ...page.items];
      if (page.more !== null && all.length < wanted) return await read(all, page.more, wanted);
      setError('');
      setRows(all);
      setMore(page.more);
      setCount(page.count);
    } catch (error) {
      setError(messageOf(error));
    }
  };
  const readMore = async (here: Item[], after: string): Promise<void> => {
    const wanted = here.length + pageRows;
    await read(here, after, wanted);
    setParams({ rows: String(Math.min(wanted, linkRows)) }, startRoute);
  };
  useEffect(() => {
    const wanted = Number(startRoute.params.get('rows'));
    void read([], undefined, Math.min(Math.max(Math.trunc(wanted) || 0, pageRows), linkRows));
  }, [type, visits.value, comebacks.value]);
  if (rows === undefined || error !== '') return <Waiting error={error} />;
  if (rows.length === 0) return <p class="hint">There are no elements of this type yet.</p>;
  return (
    <div>
      <h3>Elements</h3>
      <Table rows={rows.map(({ label: _, ...rest }) => rest)} />
      {more !== null && (
        <button type="button" class="quiet" onClick={() => void readMore(rows, more)}>
          {whole(count - rows.length)} more
        </button>
      )}
    </div>
  );
}
