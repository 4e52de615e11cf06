// The box that filters queries by name, and the filtered list, for the pages that list queries. The filter is
// part of the address.
import type { QueryContract } from '../model/contract.js';
import { contract } from '../state/program.js';
import { route, setParams } from '../state/router.js';

export const filterOf = (): string => route.value.params.get('filter') ?? '';

export function QueryFilter({ class: className }: { class?: string }) {
  return (
    <input
      class={className}
      type="text"
      placeholder="Filter queries"
      aria-label="Filter queries"
      value={filterOf()}
      onInput={(event) => setParams({ filter: event.currentTarget.value })}
    />
  );
}

/** Returns the queries that match the filter, those that read first. */
export function queriesLeft(): QueryContract[] {
  const wanted = filterOf().toLowerCase();
  return (contract.value?.queries ?? [])
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .sort((a, b) => Number(a.writes) - Number(b.writes));
}

/** Shown instead of a list that the filter has emptied. */
export const NothingLeft = () => <li class="hint">No query name contains this text.</li>;
