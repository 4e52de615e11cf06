// State of the checker for one query: the schema, the report function, and the parts that the plan collects.
import type { Limits } from '../../base/limits.js';
import type { Expression } from '../../plan/expression.js';
import type { EmbedSite, Parameter } from '../../plan/plan.js';
import type { Call, Chain, Expr } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Report } from '../syntax/diagnostic.js';
import type { Facts } from './semantic-model.js';
import type { Span } from '../syntax/source-file.js';
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
  /** Positions of sources that may read a whole type; for scans the key is their list of types. */
  readonly sourceSpans: Map<object, Span>;
  /** FOR statements around the current one whose lists are known before the transaction. */
  readonly loops: EmbedSite['loops'];
  /** True if the query creates, changes or deletes anything. */
  readonly changes: boolean;
  /** Number of creations, changes and deletions so far. */
  writes: number;
  /** Number of deletions so far: a variable may contain a deleted element. */
  drops: number;
  /** Values of the statements' variables, by slot. */
  readonly bound: Map<number, Expression>;
  /** Names bound in projections. */
  readonly bindings: (Let & { name: Name })[];
  /** True if a member of a group that is not printed was read. */
  readsGroups: boolean;
  /** Receives the results of the checker, for an analysis. */
  readonly facts?: Facts | undefined;
  /** Types an expression. Checkers of larger constructs call it for their parts. */
  check(expr: Expr, scope: Scope): TypedExpr;
}

/** The chain being checked. A checker that consumes several steps advances `next`. */
export interface ChainPosition {
  readonly chain: Chain;
  /** Index of the step after the current one. */
  next: number;
  /** Number of comparisons so far: each nests the plan one level deeper. */
  comparisons: number;
}

export type StepChecker = (
  context: Context,
  input: TypedExpr,
  call: Call,
  scope: Scope,
  position: ChainPosition,
) => TypedExpr;

const edgeEnds = new Set(['From', 'To']);
const pathEnds = new Set(['From', 'To', 'Both']);

/** Consumes the following `::From(…)` and `::To(…)`, and for a path also `::Both(…)`. */
export function takeEnds(position: ChainPosition, isPath = false): Call[] {
  const names = isPath ? pathEnds : edgeEnds;
  const ends: Call[] = [];
  for (; ; position.next++) {
    const step = position.chain.steps[position.next];
    if (step?.kind !== 'call' || !names.has(step.name.text)) return ends;
    // `Both` with a type is the traversal step.
    if (step.name.text === 'Both' && step.types !== undefined) return ends;
    ends.push(step);
  }
}
