// Explains a plan for people and programs. Lists its statements and each of its pipelines,
// numbered, with one line per step, the access path of the source and the estimated rows of each
// step.
import { estimateRows, rowsWithout, type Statistics } from './estimate.js';
import type { Pipeline, Source, Step } from './expression.js';
import { stepsLeft } from './access-path.js';
import type { CostClass, Plan } from './plan.js';
import { stepPrinter } from './print-plan.js';

/** Measurements of a step (`?profile=1`). `micros` includes the steps before it. */
export interface Measured {
  rows: number;
  micros: number;
}

export interface ExplainedStep {
  text: string;
  /** Estimated rows of the step; absent if there are no statistics of the data. */
  estimated?: number;
  /** For a source with an access path: the rows of a full scan, which the path avoids. */
  of?: number;
  rows?: number;
  /** Microseconds of this step alone. */
  micros?: number;
}

export interface ExplainedPipeline {
  /** The number that statements and other steps refer to as `#id`. */
  id: number;
  result: Pipeline['result'];
  steps: ExplainedStep[];
}

export interface Explanation {
  query: string;
  cost: CostClass;
  writes: boolean;
  statements: string[];
  pipelines: ExplainedPipeline[];
}

/** Measurements of a profile, by source or step. */
export type Measurements = ReadonlyMap<Source | Step, Measured>;

export function explain(
  plan: Plan,
  statistics?: Statistics,
  measurements?: Measurements,
): Explanation {
  const found: Pipeline[] = [];
  const printer = stepPrinter(plan, (pipeline) => {
    let at = found.indexOf(pipeline);
    if (at < 0) at = found.push(pipeline) - 1;
    return `#${at + 1}`;
  });
  const statements = printer.statements();
  const pipelines: ExplainedPipeline[] = [];
  // Printing a pipeline adds those inside it, so the list grows during the loop.
  for (let at = 0; at < found.length; at++) {
    const pipeline = found[at]!;
    const estimates = statistics && estimateRows(pipeline, statistics);
    const all = statistics && rowsWithout(pipeline.source, statistics);
    const nodes = [pipeline.source, ...stepsLeft(pipeline)];
    const texts = printer.pipeline(pipeline);
    let before = 0;
    const steps = nodes.map((node, i): ExplainedStep => {
      const measured = measurements?.get(node);
      const micros = Math.max(0, (measured?.micros ?? before) - before);
      before += micros;
      return {
        text: texts[i]!,
        ...(estimates && { estimated: estimates[i]! }),
        ...(i === 0 && all !== undefined && { of: all }),
        ...(measured && { rows: measured.rows, micros: Math.round(micros * 10) / 10 }),
      };
    });
    pipelines.push({ id: at + 1, result: pipeline.result, steps });
  }
  const { name: query, cost, writes } = plan;
  return { query, cost, writes, statements, pipelines };
}

/** Returns the text: a heading, the statements, and a table of the steps of every pipeline. */
export function printExplanation(explanation: Explanation): string {
  const { query, cost, writes, statements, pipelines } = explanation;
  const lines = [`${query}  cost ${cost}${writes ? ', writes' : ''}`];
  lines.push(...statements.map((statement) => `  ${statement}`));
  for (const { id, result, steps } of pipelines) {
    lines.push(`#${id}  ${result}`);
    const width = Math.min(72, Math.max(...steps.map(({ text }) => text.length)));
    for (const [at, { text, ...numbers }] of steps.entries()) {
      const head = `  ${at === 0 ? ' ' : '|'} ${text}`;
      const tail = printNumbers(numbers);
      lines.push(tail === '' ? head : `${head.padEnd(width + 4)}  ${tail}`);
    }
  }
  return lines.join('\n');
}

function printNumbers({ estimated, of, rows, micros }: Omit<ExplainedStep, 'text'>): string {
  const parts: string[] = [];
  const whole = of === undefined ? '' : ` of ${of}`;
  if (estimated !== undefined) parts.push(`~${estimated} row${estimated === 1 ? '' : 's'}${whole}`);
  if (rows !== undefined) parts.push(`${rows} read`);
  if (micros !== undefined) parts.push(`${micros} us`);
  return parts.join('  ');
}
