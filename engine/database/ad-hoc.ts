// A query that comes with its call: compiled against the present program's schema, its arguments read
// as a stored query's are. Nothing is kept: the plan goes with its call.
import { TrellisError, type ErrorData } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import type { Argument } from '../json/argument.js';
import { decodeArguments } from '../json/decode.js';
import type { JsonView } from '../json/view.js';
import { compileAdHoc } from '../lang/ad-hoc.js';
import type { Diagnostic } from '../lang/syntax/diagnostic.js';
import type { Program } from '../plan/program.js';
import type { Query } from '../plan/plan.js';

/** Where the text stands in the body of the call. */
const sourcePath = '/source';

/** Fails QUERY_INVALID with the place of every fault. */
export function queryOf(text: string, { schema, compat }: Program, limits: Limits): Query {
  const { query, diagnostics } = compileAdHoc(text, schema, { compat, limits });
  if (query !== undefined) return query;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(faultOf);
  throw new TrellisError({ ...errors[0]!, errors });
}

function faultOf({ code, line, column, message, hint }: Diagnostic): ErrorData {
  return {
    code: 'QUERY_INVALID',
    args: { line, column, fault: code, what: message },
    path: sourcePath,
    ...(hint !== undefined && { hint }),
  };
}

/** The arguments of a query in an object, or null, inside a body. */
export function argumentsOf(
  { name, plan }: Query,
  given: JsonView,
  { limits, strict }: { limits: Limits; strict: boolean },
): Argument[] {
  const prefix = given.path;
  return decodeArguments(given, plan.parameters, {
    owner: name,
    limits,
    strict,
    prefix,
    faults: [],
  });
}
