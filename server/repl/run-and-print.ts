// Runs a query and prints its result, for `trellis query` and for the shell.
import { explain, type Explanation, type Plan, printExplanation } from '../../engine/internal.js';
import { printLine } from '../telemetry/log.js';
import { counted } from '../terminal/format.js';
import { type ResultFormat, printAnswer } from './result-format.js';
import type { QueryRunner, QueryRequest } from './query-runner.js';
import { printJson, readJson, type Value } from './lossless-json.js';

export async function show(
  runner: QueryRunner,
  question: QueryRequest,
  plan: Plan,
  form: ResultFormat,
  onCancellable?: (cancel: () => void) => void,
): Promise<void> {
  const started = performance.now();
  const reply = await runner.run(question, onCancellable);
  const ms = (performance.now() - started).toFixed(1);
  if (form === 'json') return printLine(reply);
  if (question.mode === 'explain') return printLine(explanationText(reply));
  if (question.mode === 'profile') {
    const { result } = readJson(reply) as { result: Value };
    const { profile } = JSON.parse(reply) as { profile: Explanation & { micros: number } };
    printRows(printJson(result), form);
    return printLine(`\n${printExplanation(profile)}\n${profile.micros} us`);
  }
  const rows = printRows(reply, form);
  if (form !== 'table') return;
  const steps = roughly(plan);
  printLine(`${counted(rows, 'row')} · ${ms} ms${steps === '' ? '' : ` · plan: ${steps}`}`);
}

function printRows(reply: string, form: ResultFormat): number {
  const { text, rows } = printAnswer(reply, form);
  if (text !== '') printLine(text);
  return rows;
}

const explanationText = (reply: string): string =>
  printExplanation(JSON.parse(reply) as Explanation);

/** Returns the steps of the first traversal, one word each: `lookup N<Person> out order`. */
function roughly(plan: Plan): string {
  const [first] = explain(plan).pipelines;
  const words = first?.steps.map(({ text }, at) => {
    const [verb, on] = text.split(/[\s:.]/);
    return at === 0 ? `${verb} ${on ?? ''}`.trim() : verb;
  });
  return words?.join(' ') ?? '';
}
