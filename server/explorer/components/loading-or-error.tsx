// Stands where something is still to come, or says why it does not come. Shown after a moment only: what is there at
// once does not blink.
import { useEffect, useState } from 'preact/hooks';
import { schema } from '../state/program.js';

export function Waiting({ text = 'Loading', fault = '' }: { text?: string; fault?: string }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 250);
    return () => clearTimeout(timer);
  }, []);
  if (fault !== '') return <p class="note bad">{fault}</p>;
  return <p class="waiting">{isLate ? `${text} …` : ''}</p>;
}

/** A page of all the data, for a key that is limited to some queries. */
export function NeedsWhole({ what }: { what: string }) {
  return (
    <div class="empty">
      <h2>This key is limited to some queries</h2>
      <p>{what} shows all the data, so it asks for a key that is not. Query and Api are yours.</p>
    </div>
  );
}

/** A page that this key may not see says which one may. */
export function NeedsAdmin({ what }: { what: string }) {
  return (
    <div class="empty">
      <h2>{what} asks for the role admin</h2>
      <p>Sign in with a key of that role, or ask whoever runs this server.</p>
    </div>
  );
}

/** What to do in a project without queries: one of a type that there is, or of the first that there could be. */
export function HowQueriesBegin({ typesAreSaid = false }: { typesAreSaid?: boolean }) {
  const types = (schema.value ?? []).filter(({ kind }) => kind !== 'edge');
  const type = types.find(({ kind }) => kind === 'node') ?? types[0];
  const source = type?.kind === 'vector' ? `V<${type.name}>` : `N<${type?.name ?? 'Note'}>`;
  return (
    <>
      {type === undefined && !typesAreSaid && <HowTypesBegin />}
      <p>
        Write {type === undefined ? 'a query behind it' : 'one'} into a <code>.hx</code> file of the
        project and save it: <code>QUERY all() =&gt; all &lt;- {source} RETURN all</code>
      </p>
    </>
  );
}

/** What to do in a project without types. */
export const HowTypesBegin = () => (
  <p>
    Write <code>N::Note {'{ text: String }'}</code> into a file <code>schema.hx</code> of the
    project and save it: it is here within a second.
  </p>
);
