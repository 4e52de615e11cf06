// Resolves a text of the command line to a query: the name of a stored query, or the text of an ad-hoc query.
// Prints the errors of a text with their positions.
import {
  compileAdHoc,
  excerpt,
  type Limits,
  nearestName,
  printDiagnostic,
  type Program,
  type Query,
} from '../../engine/internal.js';
import { processEnvironment } from '../config/config.js';
import { printErrorLine } from '../telemetry/log.js';
import { colourCodeFrame, painterFor } from '../terminal/colour.js';
import { counted } from '../terminal/format.js';

export interface ResolvedQuery {
  query: Query;
  /** Text of an ad-hoc query; absent for a stored one. */
  source?: string;
}

/** Returns undefined if the text has errors. They have been printed. */
export function resolveQuery(
  text: string,
  program: Program,
  limits: Limits,
): ResolvedQuery | undefined {
  const name = text.trim();
  const stored = program.queries.find((each) => each.name === name);
  if (stored !== undefined) return { query: stored };
  const compiled = compileAdHoc(text, program.schema, { compat: program.compat, limits });
  if (compiled.query !== undefined) return { query: compiled.query, source: text };
  if (/^\w+$/.test(name)) {
    const { what, hint } = noQuery(program, name);
    printErrorLine(`QUERY_INVALID: ${what} ${hint}`.trim());
    return undefined;
  }
  const paint = painterFor(process.stderr, processEnvironment);
  const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error');
  for (const each of errors)
    printErrorLine(colourCodeFrame(paint, printDiagnostic(each, text), true));
  printErrorLine(`QUERY_INVALID: The query has ${counted(errors.length, 'error')}.`);
  return undefined;
}

/** Returns the error and the hint for a name that no stored query has. */
export function noQuery({ queries }: Program, name: string): { what: string; hint: string } {
  const near = nearestName(
    name,
    queries.map((query) => query.name),
  );
  const hint = near === undefined ? '' : `Did you mean \`${near}\`?`;
  return { what: `There is no query ${excerpt(name)}.`, hint };
}
