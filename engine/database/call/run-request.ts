// Runs one request on this thread: decodes its body, executes its plan on a view, gives bytes.
// Shared by the main thread's inline reads, the reader lanes and the writer lane, so that all of
// them answer alike.
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

/** How bodies are read. */
export interface DecodingRules {
  limits: Limits;
  /** Members that are no parameters are faults. */
  strict: boolean;
}

/** What a thread needs to run plans. */
export interface ExecutorServices extends DecodingRules {
  text: TextIndex | undefined;
  vectors: ReadonlyMap<number, VectorIndex>;
}

/** One request as a thread sees it. */
export interface Request {
  plan: Plan;
  args: readonly Argument[];
  items?: ItemList;
  embeddings?: ReadonlyMap<string, Float64Array>;
  /** Unix time in microseconds at which the request's transaction begins. */
  nowMicros: number;
  /** performance.now() of this thread when time is up. */
  deadline: number;
  budgetMs: number;
  isCancelled: () => boolean;
}

const clock = (): number => performance.now();
const noEmbeddings: ReadonlyMap<string, Float64Array> = new Map();

/** Decodes a body against the query's parameters. */
export function decodeCall(query: Query, body: Uint8Array, rules: DecodingRules): Argument[] {
  return decodeParameters(body, query.plan.parameters, query.name, rules.limits, rules.strict);
}

/**
 * Executes; fails with TrellisError, QUERY_TIMEOUT when the deadline passes or the cancel word is
 * set.
 */
export function run(
  request: Request,
  view: ReadView | WriteView,
  equipment: ExecutorServices,
): ExecutionResult {
  const { deadline, isCancelled, budgetMs } = request;
  if (performance.now() > deadline) fail('QUERY_TIMEOUT', { ms: budgetMs });
  return execute(request.plan, request.args, {
    view,
    vectors: (label) => equipment.vectors.get(label),
    text: equipment.text,
    now: instantFromMicros(request.nowMicros),
    limits: equipment.limits,
    cancelled: () => isCancelled() || performance.now() > deadline,
    budgetMs,
    embeddings: request.embeddings ?? noEmbeddings,
    items: request.items,
    clock,
  });
}
