// The page Query: a form from the parameters, the result as JSON, table, graph and plan, and the call as
// code. A query that writes needs one confirmation.
import { millis } from '../model/format-number.js';
import { calls, argumentsIn } from '../state/calls.js';
import { contract, queryNamed, schema } from '../state/program.js';
import { linkTo, route, visits } from '../state/router.js';
import { HowQueriesBegin, WaitingForProgram } from '../components/loading-or-error.js';
import { NothingLeft, QueryFilter, filterOf, queriesLeft } from './query-filter.js';
import { Runner } from './runner.js';

export function Query() {
  const { name } = route.value;
  const all = contract.value?.queries ?? [];
  const filter = filterOf();
  const filterParams: Record<string, string> = filter === '' ? {} : { filter };
  const query = queryNamed(name);
  const shown = queriesLeft();
  if (schema.value === undefined) return <WaitingForProgram />;
  if (all.length === 0 && name === '') {
    return (
      <div class="empty">
        <h2>No queries yet</h2>
        <HowQueriesBegin />
      </div>
    );
  }
  return (
    <div class={`columns ${name === '' ? 'list-only' : 'one-query'}`}>
      <aside class="list" aria-label="Queries">
        {all.length > 0 && <QueryFilter />}
        <ul>
          {shown.map((one) => (
            <li key={one.name}>
              <a
                href={linkTo('query', one.name, filterParams)}
                aria-current={one.name === name ? 'true' : undefined}
              >
                {one.name}
                {one.writes && <small>writes</small>}
              </a>
            </li>
          ))}
          {all.length > 0 && shown.length === 0 && <NothingLeft />}
        </ul>
      </aside>
      {query !== undefined ? (
        <Runner key={`${query.name} ${visits.value}`} query={query} />
      ) : (
        <div>
          <div class="empty">
            <h2>{name === '' ? 'Choose a query' : `There is no query ${name}`}</h2>
            <p>Its parameters become a form, its result a table or a graph.</p>
          </div>
          <History />
        </div>
      )}
    </div>
  );
}

/** Calls of this tab, newest first. A click repeats one. */
function History() {
  if (calls.value.length === 0) return null;
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">Calls of this tab</h2>
      <div class="scroll">
        <table class="figures">
          <tbody>
            {calls.value.map((call) => (
              <tr key={call.at}>
                <th scope="row">
                  <a href={call.address}>{call.query}</a> <small>{argumentsIn(call)}</small>
                </th>
                <td>{millis(call.ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
