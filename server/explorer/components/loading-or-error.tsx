// Placeholders: loading, errors, missing permissions, empty projects. The loading text is shown after a
// moment, so that fast replies do not flicker.
import { useEffect, useState } from 'preact/hooks';
import { schema } from '../state/program.js';
import { startError } from '../state/server.js';

export function Waiting({ text = 'Loading', error = '' }: { text?: string; error?: string }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 250);
    return () => clearTimeout(timer);
  }, []);
  if (error !== '') return <p class="note bad">{error}</p>;
  return <p class="waiting">{isLate ? `${text} …` : ''}</p>;
}

/** Replaces a page until the schema and the queries are loaded: until then, nothing is known to be empty. */
export const WaitingForProgram = () => <Waiting error={startError.value ?? ''} />;

/** Replaces a page of all data for a key that is limited to some queries. */
export function NeedsWhole({ what }: { what: string }) {
  return (
    <div class="empty">
      <h2>This key is limited to some queries</h2>
      <p>
        {what} shows all data, so it needs a key without such a limit. You can use Query and API.
      </p>
    </div>
  );
}

/** Replaces a page that needs the role admin. */
export function NeedsAdmin({ what }: { what: string }) {
  return (
    <div class="empty">
      <h2>{what} needs the role admin</h2>
      <p>Sign in with a key of that role, or ask your administrator.</p>
    </div>
  );
}

/** Explains how to write the first query, for an existing type or for a new one. */
export function HowQueriesBegin({ hasTypes = false }: { hasTypes?: boolean }) {
  const types = (schema.value ?? []).filter(({ kind }) => kind !== 'edge');
  const type = types.find(({ kind }) => kind === 'node') ?? types[0];
  const source = type?.kind === 'vector' ? `V<${type.name}>` : `N<${type?.name ?? 'Note'}>`;
  return (
    <>
      {type === undefined && !hasTypes && <HowTypesBegin />}
      <p>
        Write {type === undefined ? 'a query after it' : 'one'} into a <code>.hx</code> file of the
        project and save it: <code>QUERY all() =&gt; all &lt;- {source} RETURN all</code>
      </p>
    </>
  );
}

/** Explains how to declare the first type. */
export const HowTypesBegin = () => (
  <p>
    Write <code>N::Note {'{ text: String }'}</code> into a file <code>schema.hx</code> of the
    project and save it: it appears here within a second.
  </p>
);
