// Checks one query: header, macros, statements and RETURN. Returns its plan and its metadata.
import type { Limits } from '../../base/limits.js';
import type { Expression } from '../../plan/expression.js';
import { optimize } from '../../plan/rule/optimize.js';
import { isScatter, planScatter } from '../../plan/scatter.js';
import type { Output, Plan, Query, Scatter, Statement } from '../../plan/plan.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Macro, QueryDeclaration } from '../syntax/ast-query.js';
import type { Context } from '../type/context.js';
import { eachPart } from '../../plan/rewrite.js';
import { slowReads } from '../../plan/rule/full-scan-warning.js';
import { estimateCost } from './cost-class.js';
import type { Report } from '../syntax/diagnostic.js';
import type { Span } from '../syntax/source-file.js';
import { checkExpression } from '../expression/check-expression.js';
import { changesData } from '../type/capture-shape.js';
import { declareParameters } from '../schema/parameter-checker.js';
import { checkReturns, isNone } from './return-checker.js';
import type { Facts } from '../type/semantic-model.js';
import type { SchemaIndex } from '../type/schema-index.js';
import { outermostScope } from '../type/scope.js';
import { checkStatements } from './statement-checker.js';

/** Maximum number of plan nodes that one query may be copied into. */
const nodesMax = 200_000;

/** Thrown when nested projections make a query grow beyond `nodesMax`. */
class QueryTooLarge extends Error {
  override readonly name = 'QueryTooLarge';
}

export interface CheckOptions {
  compat: boolean;
  limits: Limits;
  /** Plans stay as written. */
  literal: boolean;
  /** Receives the results of the checker for every part. */
  facts?: Facts | undefined;
  /** Warns of full scans that can be avoided. */
  slow?: boolean;
  /** Vector types that are divided over several databases. */
  scattered?: ReadonlySet<string> | undefined;
}

export function checkQuery(
  query: QueryDeclaration,
  schema: SchemaIndex,
  report: Report,
  options: CheckOptions,
): Query | undefined {
  const { holding, release } = holdWarnings(query, report);
  try {
    const planned = planQuery(query, schema, holding, options);
    release();
    return planned;
  } catch (error) {
    if (error instanceof QueryTooLarge) {
      const message = 'The projections of this query multiply beyond all measure.';
      report('E005', query.name.span, message, 'Name fewer shaped values inside each other.');
    } else {
      // A defect of the checker must not hide the query, so it is reported like any other diagnostic.
      const message = `The checker failed: ${error instanceof Error ? error.message : 'unknown'}.`;
      report('E655', query.name.span, message, 'Report this query.');
    }
    return undefined;
  }
}

/** Warnings that are reported only for a valid query: in an invalid one they may follow from the error. */
const ofSound = new Set(['W101', 'W102', 'W115']);

/** Holds these warnings back until `release`, which drops them if the query has an error. */
function holdWarnings(
  query: QueryDeclaration,
  report: Report,
): { holding: Report; release: () => void } {
  let isSound = !query.faulty;
  const held: Parameters<Report>[] = [];
  const holding: Report = (...args) => {
    if (ofSound.has(args[0])) held.push(args);
    else report(...args);
    if (args[0].startsWith('E')) isSound = false;
  };
  const release = () => {
    if (isSound) for (const args of held) report(...args);
  };
  return { holding, release };
}

function planQuery(
  query: QueryDeclaration,
  schema: SchemaIndex,
  report: Report,
  options: CheckOptions,
): Query {
  const { compat } = options;
  const context = createContext(query, schema, report, options);
  const scope = outermostScope();
  const macros = checkMacros(query.macros, report);
  refuseReserved(query.name, report);
  declareParameters(context, query.parameters, scope);
  const statements = checkStatements(context, query.statements, scope);
  const { output, reply, elements } = checkReturns(context, query, scope);
  warnUnused(context, query, [statements, output]);
  const { parameters, embeds, writes } = context;
  const { name } = query;
  if (context.readsGroups) makeWhole(statements, output);
  const written: Plan = {
    name: name.text,
    parameters,
    slotCount: context.slots,
    statements,
    output,
    writes: writes > 0,
    cost: 'B',
    embeds,
    ...(macros.model === undefined ? {} : { model: macros.model }),
    compat,
  };
  const plan = options.literal || query.faulty ? written : optimize(written, schema);
  plan.cost = estimateCost(plan, schema);
  const scatter = query.faulty ? undefined : divide(written, schema, options, name.span, report);
  if (options.slow && !query.faulty) warnSlow(context, plan, name.span);
  const returns = output.kind === 'object' ? output.members.map((m) => m.key) : bareKeys(output);
  if (macros.mcp !== undefined && !query.faulty && !returnsOne(query)) {
    const message = 'A query marked `#[mcp]` returns exactly one value.';
    report('E401', query.returns?.[0]?.span ?? name.span, message);
  }
  const mcp = macros.mcp !== undefined;
  const made = {
    name: name.text,
    plan,
    returns,
    output: reply,
    doc: '',
    written: '',
    file: '',
    mcp,
    elements,
  };
  return scatter === undefined ? made : { ...made, scatter };
}

/** Returns how a query about a sharded type runs; reports what the shards cannot run. */
function divide(
  written: Plan,
  schema: SchemaIndex,
  { scattered, literal }: CheckOptions,
  span: Span,
  report: Report,
): Scatter | undefined {
  const found = scattered && planScatter(written, scattered);
  if (found === undefined) return undefined;
  if (!isScatter(found)) {
    const what = `This query cannot be asked of shards: ${found.why}.`;
    const hint =
      found.code === 'X_SCATTER_HOP'
        ? 'Begin with SearchV or SearchBM25, and stay with what is found.'
        : 'Make one element, or change the one of an id that is a parameter.';
    report(found.code, span, what, hint);
    return undefined;
  }
  const plan = literal ? found.plan : optimize(found.plan, schema);
  plan.cost = estimateCost(plan, schema);
  return { ...found, plan };
}

/** `slots` is the number of slots in use. */
type Counting = Context & { readonly slots: number };

function createContext(
  query: QueryDeclaration,
  schema: SchemaIndex,
  report: Report,
  { compat, limits, facts }: CheckOptions,
): Counting {
  let slotCount = 0;
  let nodes = 0;
  const context: Counting = {
    schema,
    report,
    compat,
    limits,
    parameters: [],
    usedParameters: new Set(),
    embeds: [],
    loops: [],
    changes: changesData(query),
    writes: 0,
    drops: 0,
    readsGroups: false,
    sourceSpans: new Map(),
    bound: new Map(),
    bindings: [],
    get slots() {
      return slotCount;
    },
    fresh: () => slotCount++,
    spend: () => {
      if (++nodes > nodesMax) throw new QueryTooLarge();
    },
    facts,
    check: (expr, scope) => {
      const typed = checkExpression(context, expr, scope);
      facts?.value(expr, typed, scope);
      return typed;
    },
  };
  return context;
}

function refuseReserved({ text, span }: Name, report: Report): void {
  const owner = reservedNames.get(text);
  if (owner === undefined) return;
  report('E705', span, `\`${text}\` is reserved for ${owner}.`, 'Rename the query.');
}

/** Reserved paths. Monitoring systems call the health routes without a key, so no query may replace them. */
const reservedNames = new Map([
  ['mcp', 'sessions'],
  ['livez', 'health'],
  ['readyz', 'health'],
  ['healthz', 'health'],
]);

/** Warns of full scans that can be avoided. */
function warnSlow({ sourceSpans, report, schema }: Context, plan: Plan, otherwise: Span): void {
  for (const { source, what, instead } of slowReads(plan, schema)) {
    // The planner gives the access path to a copy of the scan, which shares `types` with the original.
    const position =
      source.kind === 'scan' ? sourceSpans.get(source.types) : sourceSpans.get(source);
    report('W120', position ?? otherwise, what, instead);
  }
}

/**
 * Makes every group store all its members, because the checker does not track which group a member is read
 * from.
 */
function makeWhole(statements: readonly Statement[], output: Output): void {
  eachPart([statements, output], (part) => {
    if (part.kind === 'group') part.whole = true;
  });
}

function returnsOne({ returns }: QueryDeclaration): boolean {
  return returns?.length === 1 && !isNone(returns[0]!);
}

function bareKeys(output: Output): string[] {
  const { value } = output as { value: Expression };
  return value.kind === 'record' ? value.members.map((member) => member.name) : [];
}

function checkMacros(macros: readonly Macro[], report: Report): { mcp?: Macro; model?: string } {
  const found = new Map<string, Macro>();
  for (const macro of macros) {
    const { text, span } = macro.name;
    const takesArgument = text === 'model';
    const isKnown = text === 'mcp' || takesArgument;
    if (!isKnown || found.has(text) || takesArgument !== (macro.argument !== undefined)) {
      const what = !isKnown ? 'unknown' : found.has(text) ? 'here twice' : 'not written like this';
      const message = `The macro \`${text}\` is ${what}.`;
      report('E708', span, message, 'There are `#[mcp]` and `#[model("provider:model")]`.');
    } else {
      found.set(text, macro);
    }
  }
  const mcp = found.get('mcp');
  const model = found.get('model')?.argument;
  return { ...(mcp && { mcp }), ...(model !== undefined && { model }) };
}

function warnUnused(context: Context, query: QueryDeclaration, plan: unknown): void {
  const { bindings } = context;
  const used = bindings.length === 0 ? new Set<number>() : keysIn([plan, bindings]);
  for (const { name, key } of bindings) {
    if (used.has(key)) continue;
    context.report('W102', name.span, `Nothing uses \`${name.text}\`.`, 'Remove it.');
  }
  for (const [index, { name }] of context.parameters.entries()) {
    if (context.usedParameters.has(index)) continue;
    const field = query.parameters.find((other) => other.name.text === name)!;
    context.report('W102', field.name.span, `Nothing uses \`${name}\`.`, 'Remove it.');
  }
}

/** Returns the keys of the named values in the expressions of a plan. */
function keysIn(plan: unknown): Set<number> {
  const keys = new Set<number>();
  const seen = new Set<object>();
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    seen.add(part);
    const { kind, lets } = part as { kind?: string; lets?: { key: number }[] };
    if (kind === 'with') for (const { key } of lets!) keys.add(key);
    for (const inner of Object.values(part)) visit(inner);
  };
  visit(plan);
  return keys;
}
