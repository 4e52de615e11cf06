// The plan of a query below its declaration, as the server would run it now.
import { ask } from '../state/api.js';
import { useAnswer } from './use-request.js';
import { type Explanation, PlanTree } from './plan-tree.js';

export function PlanHere({ query }: { query: string }) {
  const explain = () => ask<Explanation>(`${query}?explain=1`, { body: '{}' });
  const { value, error } = useAnswer(explain, [query]);
  return (
    <div class="inline-plan">
      {error !== '' && <p class="note bad">{error}</p>}
      {value !== undefined && <PlanTree plan={value.value} />}
    </div>
  );
}
