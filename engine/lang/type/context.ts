// What the checker of one query carries along: the schema, where to report, and what the plan
// collects.
import type { Limits } from '../../base/limits.js';
import type { Expression } from '../../plan/expression.js';
import type { EmbedSite, Parameter } from '../../plan/plan.js';
import type { Call, Chain, Expr } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Report } from '../syntax/diagnostic.js';
import type { Facts } from './semantic-model.js';
import type { Span } from '../syntax/source.js';
import type { Let } from './lets.js';
import type { SchemaIndex } from './schema-index.js';
import type { Scope } from './scope.js';
import type { SlotSupply } from './substitute.js';
import type { TypedExpr } from './typed-expression.js';

export interface Context extends SlotSupply {
  readonly schema: SchemaIndex;
  readonly report: Report;
  readonly compat: boolean;
  readonly limits: Limits;
  readonly parameters: Parameter[];
  readonly usedParameters: Set<number>;
  readonly embeds: EmbedSite[];
  /** Where sources that may read a whole type were written; of scans, by their types. */
  readonly places: Map<object, Span>;
  /** FOR statements around the statement at hand whose lists are known before the transaction. */
  readonly loops: EmbedSite['loops'];
  /** Whether the query creates, changes or deletes anything. */
  readonly changes: boolean;
  /** Creations, changes and deletions met so far. */
  writes: number;
  /** Deletions met so far: what a variable holds may be gone. */
  drops: number;
  /** What the variables of statements hold, by their slots. */
  readonly bound: Map<number, Expression>;
  /** Names bound in projections. */
  readonly bindings: (Let & { name: Name })[];
  /** A member of a group that is not printed with it has been named. */
  readsGroups: boolean;
  /** Hears what is found out, where somebody asks. */
  readonly facts?: Facts | undefined;
  /** Types an expression; the way back into the recursion for those who type its parts. */
  check(expr: Expr, scope: Scope): TypedExpr;
}

/** A chain being read; whoever takes a step of several parts moves `next`. */
export interface ChainPlace {
  readonly chain: Chain;
  /** Index of the step after the one at hand. */
  next: number;
  /** Comparisons so far: each nests the plan one level deeper. */
  comparisons: number;
}

export type StepChecker = (
  context: Context,
  input: TypedExpr,
  call: Call,
  scope: Scope,
  place: ChainPlace,
) => TypedExpr;

const edgeEnds = new Set(['From', 'To']);
const pathEnds = new Set(['From', 'To', 'Both']);

/** Takes the `::From(…)` and `::To(…)` that follow, of a path `::Both(…)` as well. */
export function takeEnds(place: ChainPlace, isPath = false): Call[] {
  const names = isPath ? pathEnds : edgeEnds;
  const ends: Call[] = [];
  for (; ; place.next++) {
    const step = place.chain.steps[place.next];
    if (step?.kind !== 'call' || !names.has(step.name.text)) return ends;
    // With a type it is the step.
    if (step.name.text === 'Both' && step.types !== undefined) return ends;
    ends.push(step);
  }
}
