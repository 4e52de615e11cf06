// The page API: every query with its parameters and the type of its result.
import { printType } from '../model/type-text.js';
import { contract, schema } from '../state/program.js';
import { linkTo } from '../state/router.js';
import { status } from '../state/server.js';
import { HowQueriesBegin, WaitingForProgram } from '../components/loading-or-error.js';
import type { QueryContract } from '../model/contract.js';
import { NothingLeft, QueryFilter, queriesLeft } from './query-filter.js';

export function Api() {
  // A link sends no key.
  const hasKeys = status.value?.keys === true;
  const shown = queriesLeft();
  if (schema.value === undefined) return <WaitingForProgram />;
  if ((contract.value?.queries ?? []).length === 0) {
    return (
      <div class="empty">
        <h2>No queries yet</h2>
        <p>
          Each <code>QUERY</code> of the project becomes a route, described here and in{' '}
          <a href="openapi.json">openapi.json</a>.
        </p>
        <HowQueriesBegin />
      </div>
    );
  }
  return (
    <div class="stack">
      <div class="spread">
        <QueryFilter class="narrow" />
        <span class="facts">
          <span>contract {contract.value?.version}</span>
          <span>
            for generators:{' '}
            {hasKeys ? <code>GET /openapi.json</code> : <a href="openapi.json">openapi.json</a>}
          </span>
        </span>
      </div>
      <ul class="contracts">
        {shown.map((query) => (
          <Entry key={query.name} query={query} />
        ))}
        {shown.length === 0 && <NothingLeft />}
      </ul>
    </div>
  );
}

function Entry({ query }: { query: QueryContract }) {
  const { name, doc, writes, cost, parameters, reply } = query;
  return (
    <li class="card">
      <div class="spread">
        <h2>
          <span class="mono">POST</span> /{name}
        </h2>
        <span class="actions">
          <span class="chip">{writes ? 'writes' : 'reads'}</span>
          <span class="chip">cost {cost}</span>
          <a href={linkTo('query', name)}>Try it</a>
        </span>
      </div>
      {doc !== '' && <p class="doc">{doc}</p>}
      <pre class="code" tabIndex={0}>
        {printType(parameters)} → {printType(reply)}
      </pre>
    </li>
  );
}
