// The plan of a query below its declaration, as the server would run it now.
import { useEffect, useState } from 'preact/hooks';
import { ask, messageOf } from '../state/api.js';
import { type Explanation, PlanTree } from './plan-tree.js';

export function PlanHere({ query }: { query: string }) {
  const [plan, setPlan] = useState<Explanation | undefined>();
  const [fault, setFault] = useState('');
  useEffect(() => {
    let isCurrent = true;
    ask<Explanation>(`${query}?explain=1`, { body: '{}' })
      .then(({ value }) => isCurrent && setPlan(value))
      .catch((error: unknown) => isCurrent && setFault(messageOf(error)));
    return () => {
      isCurrent = false;
    };
  }, [query]);
  return (
    <div class="plan-here">
      {fault !== '' && <p class="note bad">{fault}</p>}
      {plan !== undefined && <PlanTree plan={plan} />}
    </div>
  );
}
