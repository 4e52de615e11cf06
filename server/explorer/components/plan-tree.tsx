// Shows a plan: the steps of each pipeline from its source, with estimated and actual rows and the share of
// the time.
import { micros, whole } from '../model/format-number.js';

export interface Explanation {
  query: string;
  cost: string;
  statements: string[];
  pipelines: {
    id: number;
    result: string;
    steps: { text: string; estimated?: number; rows?: number; micros?: number }[];
  }[];
  micros?: number;
}

export function PlanTree({ plan }: { plan: Explanation }) {
  const all = plan.pipelines.flatMap(({ steps }) => steps);
  const longest = Math.max(1, ...all.map((step) => step.micros ?? 0));
  const isMeasured = all.some((step) => step.rows !== undefined);
  return (
    <div class="plan">
      <p class="hint">
        cost class {plan.cost}
        {plan.micros !== undefined && ` · ${micros(plan.micros)} in all`}
        {!isMeasured && ' · Profile shows real rows and times'}
      </p>
      {plan.pipelines.length > 0 && (
        <div class="scroll">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">step</th>
                <th scope="col">expected</th>
                <th scope="col">rows</th>
                <th scope="col">time</th>
              </tr>
            </thead>
            {plan.pipelines.map(({ id, result, steps }) => (
              <tbody key={id}>
                <tr class="group">
                  <th scope="colgroup" colSpan={4}>
                    #{id} <small>{result}</small>
                  </th>
                </tr>
                {steps.map((step, at) => (
                  <tr key={at}>
                    <th scope="row" class="mono">
                      <span class="branch" aria-hidden="true">
                        {at === 0 ? '●' : '└'}
                      </span>
                      {step.text}
                    </th>
                    <td>
                      {step.estimated === undefined ? '–' : whole(Math.round(step.estimated))}
                    </td>
                    <td class={isFar(step) ? 'bad' : ''}>
                      {step.rows === undefined ? '–' : whole(step.rows)}
                    </td>
                    <td class="timed">
                      <meter
                        min={0}
                        max={longest}
                        value={step.micros ?? 0}
                        aria-label="share of time"
                      />
                      {step.micros === undefined ? '–' : micros(step.micros)}
                    </td>
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
        </div>
      )}
      <ol class="statements mono">
        {plan.statements.map((statement, at) => (
          <li key={at}>{statement}</li>
        ))}
      </ol>
    </div>
  );
}

/** Highlights a step with ten times more or fewer rows than estimated. */
function isFar({ estimated, rows }: { estimated?: number; rows?: number }): boolean {
  if (estimated === undefined || rows === undefined || Math.max(estimated, rows) < 20) return false;
  const [expected, real] = [Math.max(estimated, 1), Math.max(rows, 1)];
  return Math.max(expected / real, real / expected) > 10;
}
