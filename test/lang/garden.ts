// The garden schema and the worked examples as text, and short ways to compile against them.
import { readFileSync } from 'node:fs';
import { type Compilation, compile } from '../../engine/lang/compile.js';
import type { Plan, Query } from '../../engine/plan/plan.js';
import { printPlan } from '../../engine/plan/print-plan.js';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

export const gardenText = read('./garden.hx');
export const examplesText = read('./examples.hx');

/** Compiles one file `q.hx` together with the garden schema. */
export function compileGarden(text: string, compat = false): Compilation {
  const sources = [
    { path: 'garden.hx', text: gardenText },
    { path: 'q.hx', text },
  ];
  return compile(sources, { compat });
}

/** `code line:column` of every diagnostic of `q.hx`. */
export function faultsOf(text: string, compat = false): string[] {
  const { diagnostics } = compileGarden(text, compat);
  return diagnostics.filter((d) => d.file === 'q.hx').map((d) => `${d.code} ${d.line}:${d.column}`);
}

/** The only query of `text`, which must compile; without a warning unless they are allowed. */
export function queryOf(text: string, compat = false, warnings = false): Query {
  const { program, diagnostics } = compileGarden(text, compat);
  const found = diagnostics.map((d) => `${d.code} ${d.message} ${d.hint ?? ''}`);
  if (program === undefined || (found.length > 0 && !warnings))
    throw new TypeError(`${text}: ${found.join('; ')}`);
  return program.queries[0]!;
}

export function planOf(text: string, compat = false, warnings = false): Plan {
  return queryOf(text, compat, warnings).plan;
}

/** The printed plan of a query without its heading and indentation, one string per line. */
export function planLines(text: string, compat = false, warnings = false): string[] {
  const [, ...lines] = printPlan(planOf(text, compat, warnings)).split('\n');
  return lines.map((line) => line.trim());
}
