// Runs a query whose text comes with the call. The text is compiled against the current schema, and its
// arguments are read like those of a stored query. A cache keeps the last few texts with their plans for the
// current program. A repeated text needs no compilation, and the executor reuses its operators.
import { fail, TrellisError, type ErrorData } from '../base/errors.js';
import type { Limits } from '../base/limits.js';
import type { Argument } from '../json/decoded-argument.js';
import { decodeArguments, scanBody } from '../json/decode.js';
import { describe } from '../json/validation-error.js';
import type { JsonView } from '../json/view.js';
import { type AdHocCompilation, compileAdHoc } from '../lang/compile-ad-hoc.js';
import type { Diagnostic } from '../lang/syntax/diagnostic.js';
import type { Plan, Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import type { DecodingRules } from './call/run-request.js';
import { checkCompiler } from './schema/compiler.js';

/** Name under which callers send ad hoc queries. No stored query can have this name. */
export const adHocName = '_query';

/** Maximum characters of the text. The source limits bound what it compiles to. */
const sourceMax = 64 * 1024;
/** JSON pointer of the text in the body of the call. */
const sourcePath = '/source';

/** Content of the body. */
export interface AdHocCall {
  query: Query;
  /** Plan of the query, or a plan that profiles itself. */
  plan: Plan;
  args: Argument[];
  /** True if the caller wants only the plan. Then there are no arguments. */
  explain: boolean;
}

/**
 * Reads `{source, parameters, write, explain, profile}`. Fails QUERY_INVALID with the location of every
 * diagnostic, and otherwise as a call of a stored query fails.
 */
export function readAdHocCall(
  bytes: Uint8Array,
  program: Program,
  rules: DecodingRules,
): AdHocCall {
  const { limits } = rules;
  const body = scanBody(bytes, limits);
  const query = queryOf(sourceIn(body), program, limits);
  const { plan } = query;
  if (flagIn(body, 'explain')) return { query, plan, args: [], explain: true };
  if (plan.writes && !flagIn(body, 'write')) {
    const hint = 'Say `"write": true`; `trellis query --write` does.';
    const allowed = '`true`: the query writes';
    fail('PARAM_VALUE', { param: 'write', allowed, got: 'nothing' }, { hint });
  }
  const parameters = body.member('parameters') ?? scanBody(nothing, limits);
  if (parameters.kind !== 'object' && parameters.kind !== 'null')
    refuse('parameters', 'Object', parameters);
  const args = argumentsOf(query, parameters, rules);
  const measured = flagIn(body, 'profile') ? { ...plan, profile: true as const } : plan;
  return { query, plan: measured, args, explain: false };
}

const nothing = new Uint8Array(0);

interface CachedQueries {
  limits: Limits;
  /** The most recently used query is last. */
  queries: Map<string, Query>;
  /** Characters of all texts. */
  length: number;
}

const cache = new WeakMap<Program, CachedQueries>();

/** Maximum characters of all cached texts. A plan is a few dozen times as large as its text. */
const cachedLengthMax = 64 * 1024;

/** Characters. A longer text takes milliseconds to compile. */
const shortText = 2048;

/**
 * Compiles a long text on a separate thread before `readAdHocCall`, and caches it, so that the calling thread
 * stays free. Returns undefined when there is nothing to wait for. Fails as `readAdHocCall` does.
 */
export function prepareAdHocCall(
  bytes: Uint8Array,
  program: Program,
  { limits }: DecodingRules,
): Promise<unknown> | undefined {
  const text = sourceIn(scanBody(bytes, limits));
  if (text.length <= shortText || isCached(text, program, limits)) return undefined;
  return checkCompiler
    .adHoc(text, program, limits)
    .then((compilation) => cached(text, program, limits, () => sound(compilation)));
}

const isCached = (text: string, program: Program, limits: Limits): boolean => {
  const known = cache.get(program);
  return known?.limits === limits && known.queries.has(text);
};

/** Compiles one query. Fails QUERY_INVALID with the location of every diagnostic. */
export function queryOf(text: string, program: Program, limits: Limits): Query {
  const { schema, compat } = program;
  return cached(text, program, limits, () => sound(compileAdHoc(text, schema, { compat, limits })));
}

function cached(text: string, program: Program, limits: Limits, make: () => Query): Query {
  let known = cache.get(program);
  if (known?.limits !== limits) {
    known = { limits, queries: new Map(), length: 0 };
    cache.set(program, known);
  }
  const { queries } = known;
  const found = queries.get(text);
  const query = found ?? make();
  queries.delete(text);
  queries.set(text, query);
  if (found === undefined) known.length += text.length;
  for (const [oldest] of queries) {
    if (known.length <= cachedLengthMax) break;
    queries.delete(oldest);
    known.length -= oldest.length;
  }
  return query;
}

function sound({ query, diagnostics }: AdHocCompilation): Query {
  if (query !== undefined) return query;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(invalidQuery);
  throw new TrellisError({ ...errors[0]!, errors });
}

function invalidQuery({ code, line, column, message, hint }: Diagnostic): ErrorData {
  return {
    code: 'QUERY_INVALID',
    args: { line, column, fault: code, what: message },
    path: sourcePath,
    ...(hint !== undefined && { hint }),
  };
}

/** Reads the arguments of a query from an object, or from null, inside a body. */
export function argumentsOf(
  { name: owner, plan }: Query,
  parameters: JsonView,
  { limits, strict }: DecodingRules,
): Argument[] {
  const decoding = { owner, limits, strict, prefix: parameters.path, errors: [] };
  return decodeArguments(parameters, plan.parameters, decoding);
}

function sourceIn(body: JsonView): string {
  const source = body.member('source');
  if (source === undefined) {
    return fail('PARAM_MISSING', { owner: adHocName, param: 'source', type: 'String' });
  }
  if (source.kind !== 'string') return refuse('source', 'String', source);
  if (source.size > sourceMax) {
    const args = { param: 'source', size: source.size, max: sourceMax };
    fail('VALUE_TOO_LARGE', args, { path: sourcePath });
  }
  return source.text();
}

function flagIn(body: JsonView, name: string): boolean {
  const flag = body.member(name);
  if (flag === undefined || flag.kind === 'null') return false;
  return flag.kind === 'boolean' ? flag.boolean() : refuse(name, 'Boolean', flag);
}

function refuse(param: string, type: string, view: JsonView): never {
  return fail('PARAM_TYPE', { param, type, got: describe(view) }, { path: `/${param}` });
}
