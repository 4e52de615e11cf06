// Runs one request on this thread: decodes its body, executes its plan on a view, returns bytes. Inline
// reads, reader lanes and the writer lane share this code, so that all of them return the same.
import { fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import { instantFromMicros } from '../../base/date.js';
import type { Argument, ExecutionResult, ItemList } from '../../exec/runtime/execute.js';
import { execute } from '../../exec/run.js';
import { decodeParameters } from '../../json/decode.js';
import type { Plan, Query } from '../../plan/plan.js';
import type { ReadView, WriteView } from '../../storage/table/view-types.js';
import type { TextIndex } from '../../text/text-index-types.js';
import type { VectorIndex } from '../../vector/index.js';

/** Rules for decoding bodies. */
export interface DecodingRules {
  limits: Limits;
  /** If true, unknown members fail. */
  strict: boolean;
}

/** What a thread needs to run plans. */
export interface ExecutorServices extends DecodingRules {
  text: TextIndex | undefined;
  vectors: ReadonlyMap<number, VectorIndex>;
}

/** One request, in the form in which a thread runs it. */
export interface Request {
  plan: Plan;
  args: readonly Argument[];
  items?: ItemList;
  embeddings?: ReadonlyMap<string, Float64Array>;
  /** Unix time in microseconds at which the request's transaction begins. */
  nowMicros: number;
  /** On the clock performance.now() of this thread, in milliseconds. */
  deadline: number;
  budgetMs: number;
  isCancelled: () => boolean;
}

const clock = (): number => performance.now();
const noEmbeddings: ReadonlyMap<string, Float64Array> = new Map();

/** Decodes a body by the parameters of the query. */
export function decodeCall(query: Query, body: Uint8Array, rules: DecodingRules): Argument[] {
  return decodeParameters(body, query.plan.parameters, query.name, rules.limits, rules.strict);
}

/**
 * Executes the request. Fails with TrellisError; fails QUERY_TIMEOUT when the deadline passes or the call is
 * cancelled.
 */
export function run(
  request: Request,
  view: ReadView | WriteView,
  services: ExecutorServices,
): ExecutionResult {
  const { deadline, isCancelled, budgetMs } = request;
  if (performance.now() > deadline) fail('QUERY_TIMEOUT', { ms: budgetMs });
  return execute(request.plan, request.args, {
    view,
    vectors: (label) => services.vectors.get(label),
    text: services.text,
    now: instantFromMicros(request.nowMicros),
    limits: services.limits,
    cancelled: () => isCancelled() || performance.now() > deadline,
    budgetMs,
    embeddings: request.embeddings ?? noEmbeddings,
    items: request.items,
    clock,
  });
}
