// Checks chains: the head, then one step after another. Contains the tables of all heads and steps.
import { isShown } from '../type/visible-member.js';
import { argument } from '../argument/call-argument.js';
import { checkArithmetic, checkEmbed, isArithmetic } from './arithmetic.js';
import { checkFusion } from './fusion.js';
import { checkSet } from './set-head.js';
import type { Call, Chain, Path } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import { checkComparison } from '../step/step-compare.js';
import type { ChainPosition, Context, StepChecker } from '../type/context.js';
import { single } from '../type/load-conversion.js';
import {
  checkAddEdge,
  checkAddEdgeStep,
  checkAddNode,
  checkAddVector,
  checkAddVectors,
  checkUpsertEdges,
} from '../step/create-step.js';
import { scalarExpr, unknownExpr } from '../type/make-typed.js';
import { findName, innerScope, type Scope, visibleNames } from '../type/scope.js';
import { bare, groupItems, hasMembers, memberNames, findMember } from '../type/shape.js';
import { checkTextSearch, checkVectorSearch } from '../step/source-step.js';
import {
  checkUpdate,
  checkUpsertEdge,
  checkUpsertNode,
  checkUpsertVector,
} from '../step/step-change.js';
import { toBoolean, checkPrefilter, checkWhere } from '../step/step-condition.js';
import { checkEdgeStep, checkEndStep, checkIntersect } from '../step/step-graph.js';
import {
  checkCount,
  checkDedup,
  checkFirst,
  checkGroup,
  checkId,
  checkRange,
} from '../step/step-order.js';
import { checkPage } from '../step/step-page.js';
import { checkPath } from '../step/step-path.js';
import { checkGet } from '../step/json-part.js';
import { checkOrder } from '../step/step-sort.js';
import { checkSelection } from '../step/selection.js';
import { checkRerankMMR, checkRerankRRF, checkSearchWithin } from '../step/step-search.js';
import { checkProperty, checkShape, hasMember } from '../step/step-shape.js';
import { checkOther, checkWalk, refuseHops } from '../step/step-walk.js';
import { didYouMean, nearestName } from '../../base/did-you-mean.js';
import { foreignStep, foreignWord } from '../syntax/dialect-hints.js';
import { isList, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { foreignFunctions, functions } from '../function/functions.js';

type HeadChecker = (
  context: Context,
  call: Call,
  scope: Scope,
  position: ChainPosition,
) => TypedExpr;

const heads: Record<string, HeadChecker> = {
  N: checkSelection,
  E: checkSelection,
  V: checkSelection,
  SearchV: checkVectorSearch,
  SearchBM25: checkTextSearch,
  AddN: checkAddNode,
  AddV: checkAddVector,
  BatchAddV: checkAddVectors,
  AddE: checkAddEdge,
  UpsertE: checkUpsertEdges,
  AND: checkJunction,
  OR: checkJunction,
  EXISTS: checkExists,
  Embed: checkEmbed,
  ...functions,
  RerankRRF: checkFusion,
  UNION: checkSet,
  EXCEPT: checkSet,
  INTERSECT: checkSet,
};

const steps: Record<string, StepChecker> = {
  Out: checkEdgeStep,
  In: checkEdgeStep,
  OutE: checkEdgeStep,
  InE: checkEdgeStep,
  Both: checkWalk,
  BothE: checkWalk,
  Other: checkOther,
  FromN: checkEndStep,
  ToN: checkEndStep,
  FromV: checkEndStep,
  ToV: checkEndStep,
  WHERE: checkWhere,
  PREFILTER: checkPrefilter,
  INTERSECT: checkIntersect,
  EQ: checkComparison,
  NEQ: checkComparison,
  GT: checkComparison,
  GTE: checkComparison,
  LT: checkComparison,
  LTE: checkComparison,
  CONTAINS: checkComparison,
  IS_IN: checkComparison,
  STARTS_WITH: checkComparison,
  ENDS_WITH: checkComparison,
  RANGE: checkRange,
  ORDER: checkOrder,
  FIRST: checkFirst,
  COUNT: checkCount,
  DEDUP: checkDedup,
  PAGE: checkPage,
  GET: checkGet,
  ID: checkId,
  GROUP_BY: checkGroup,
  AGGREGATE_BY: checkGroup,
  SearchV: checkSearchWithin,
  RerankRRF: checkRerankRRF,
  RerankMMR: checkRerankMMR,
  UPDATE: checkUpdate,
  Update: checkUpdate,
  UpsertN: checkUpsertNode,
  UpsertE: checkUpsertEdge,
  UpsertV: checkUpsertVector,
  AddE: checkAddEdgeStep,
  ShortestPath: checkPath,
  ShortestPathBFS: checkPath,
  ShortestPathDijkstras: checkPath,
  ShortestPathAStar: checkPath,
};

/** Names that became steps in a later version: without arguments they are still read as properties. */
const lateSteps = new Set(['Both', 'BothE', 'PAGE', 'STARTS_WITH', 'ENDS_WITH', 'GET']);

const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Names that may begin a chain, and names that may follow. */
export const headNames: readonly string[] = Object.keys(heads);
export const stepNames: readonly string[] = Object.keys(steps);

/** Checks a chain. Its pipeline must not be extended afterwards. */
export function checkChain(context: Context, chain: Chain, scope: Scope): TypedExpr {
  const position: ChainPosition = { chain, next: 0, comparisons: 0 };
  let typed = checkHead(context, chain, scope, position);
  context.facts?.head(chain.head, typed);
  for (
    let step = chain.steps[position.next];
    step !== undefined;
    step = chain.steps[position.next]
  ) {
    position.next++;
    const input = typed;
    if (step.kind !== 'call') typed = checkShape(context, typed, step, scope);
    else typed = checkStep(context, typed, step, scope, position);
    context.facts?.step(step, input, typed);
  }
  return { ...typed, growing: false };
}

function checkStep(
  context: Context,
  input: TypedExpr,
  call: Call,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  const name = call.name.text;
  const step = own(steps, name);
  const isProperty = call.types === undefined && call.args === undefined;
  const names = Object.keys(steps);
  if (isProperty && !call.hops && lateSteps.has(name) && hasMember(context, input, name)) {
    return checkProperty(context, input, call.name, scope, names);
  }
  const isEdgeStep = step === checkEdgeStep || step === checkWalk;
  if (call.hops && !isEdgeStep) refuseHops(context, call.hops.span, name);
  // A step with more than the basic syntax is a `walk` step.
  if (step === checkEdgeStep && (call.hops || call.args?.length)) {
    return checkWalk(context, input, call, scope, position);
  }
  if (step !== undefined) return step(context, input, call, scope, position);
  if (name === 'From' || name === 'To') {
    const message = `\`${name}\` follows \`AddE\`, \`UpsertE\` or a shortest path.`;
    context.report('E601', call.name.span, message);
    return input;
  }
  if (isProperty) return checkProperty(context, input, call.name, scope, names);
  const hint = /^(LIMIT|TAKE|TOP|SKIP|OFFSET|SLICE)$/i.test(name)
    ? `Write \`RANGE(0, ${limitOf(call)})\`.`
    : (foreignStep(name) ?? didYouMean(name, [...names, 'From', 'To']));
  context.report('E602', call.name.span, `There is no step \`${name}\`.`, hint);
  return unknownExpr();
}

function limitOf(call: Call): string {
  const value = call.args?.[0]?.value;
  const isNumber = value?.kind === 'literal' && value.value.kind === 'integer';
  return isNumber ? String(value.value.kind === 'integer' && value.value.value) : 'n';
}

function checkHead(
  context: Context,
  chain: Chain,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  const { head } = chain;
  switch (head.kind) {
    case 'item': {
      if (scope.item !== undefined) {
        const ofGroup = (of: TypedExpr, { text }: Name): TypedExpr | undefined =>
          text === 'data' && !isShown(of, text) ? groupItems(context, of) : undefined;
        return head.members.reduce(
          (of, name) => ofGroup(of, name) ?? checkMember(context, of, name),
          scope.item,
        );
      }
      const message = '`_` stands for the current item, and there is none here.';
      context.report('E601', head.span, message, 'Name a variable.');
      return unknownExpr();
    }
    case 'path':
      return sourceWithout(context, chain, scope, position) ?? checkPathHead(context, head, scope);
    case 'call':
      return checkCallHead(context, head, scope, position);
  }
}

/** Reports `N::Type` where `N<Type>` is required. */
function sourceWithout(
  context: Context,
  { head, steps: [step] }: Chain,
  scope: Scope,
  position: ChainPosition,
): TypedExpr | undefined {
  if (head.kind !== 'path' || head.names.length > 1 || step?.kind !== 'call') return undefined;
  const [{ text, span }] = head.names;
  if (!/^[NEV]$/.test(text) || own(steps, step.name.text) || findName(scope, text))
    return undefined;
  const hint = `Write \`${text}<${step.name.text}>\`.`;
  context.report('E304', span, `\`${text}\` needs a type argument.`, hint);
  position.next = 1;
  return unknownExpr();
}

function checkCallHead(
  context: Context,
  call: Call,
  scope: Scope,
  position: ChainPosition,
): TypedExpr {
  const name = call.name.text;
  // `E()` is Euler's number; `E(id)` is a source without its type.
  const isNumber = name !== 'E' || (call.args ?? []).length === 0;
  const isFunction = call.types === undefined && isNumber;
  if (isFunction && isArithmetic(name)) return checkArithmetic(context, call, scope);
  const head = own(heads, name);
  if (head !== undefined) return head(context, call, scope, position);
  const step = own(steps, name);
  if (step === checkComparison) {
    const hint = `Name a value first: \`_::{p}::${name}(…)\`.`;
    context.report('E657', call.span, `\`${name}\` has no value before it.`, hint);
    return scalarExpr('Boolean', { kind: 'literal', value: null });
  }
  const known = nearestName(name, Object.keys(heads));
  const foreign = foreignFunctions.get(name.toUpperCase().replaceAll('_', ''));
  const hint = step
    ? `\`${name}\` is a step: write \`x::${name}\`.`
    : (foreign ??
      (known?.length === 1 ? foreignWord(name) : undefined) ??
      (known && `Did you mean \`${known}\`?`) ??
      typeHint(context, name) ??
      foreignWord(name));
  context.report('E001', call.name.span, `There is no function or source \`${name}\`.`, hint);
  return unknownExpr();
}

/** Returns the hint for the name of a type where a value is expected. */
function typeHint({ schema }: Context, name: string): string | undefined {
  if (schema.find('node', name)) return `Write \`N<${name}>\`, or \`AddN<${name}>\` to create one.`;
  if (schema.find('edge', name)) return `Write \`E<${name}>\`, or \`AddE<${name}>\` to create one.`;
  if (schema.find('vector', name))
    return `Write \`V<${name}>\`, or \`AddV<${name}>\` to create one.`;
  return undefined;
}

const needsType = new Set([
  'N',
  'E',
  'V',
  'AddN',
  'AddE',
  'AddV',
  'UpsertE',
  'SearchV',
  'SearchBM25',
]);

/** Checks a name and its members: `order.customer.email`. */
function checkPathHead(context: Context, path: Path, scope: Scope): TypedExpr {
  const [first, ...members] = path.names;
  let typed = findName(scope, first.text) ?? missingName(context, first, scope);
  if (typed.parameter !== undefined) context.usedParameters.add(typed.parameter);
  for (const name of members) typed = checkMember(context, typed, name);
  return typed;
}

function missingName(context: Context, name: Name, scope: Scope): TypedExpr {
  if (name.text === 'NOW') return scalarExpr('Date', { kind: 'now' });
  if (needsType.has(name.text)) {
    const hint = `Write \`${name.text}<Type>\`.`;
    context.report('E304', name.span, `\`${name.text}\` needs a type argument.`, hint);
    return unknownExpr();
  }
  const message = `\`${name.text}\` is not known here.`;
  context.report('E301', name.span, message, hintOfMissing(context, name.text, scope));
  return unknownExpr();
}

/**
 * Returns a hint for an unknown name: a property of the current item, a word of another language, a type, or
 * the nearest name.
 */
function hintOfMissing(context: Context, name: string, scope: Scope): string | undefined {
  const { item } = scope;
  if (item !== undefined && hasMembers(item.type) && findMember(context, item, name) !== undefined)
    return `A property of the item is \`_::{${name}}\`.`;
  return (
    foreignWord(name) ??
    typeHint(context, name) ??
    didYouMean(
      name,
      [...visibleNames(scope)].filter((other) => other !== name),
      'Declare it as a parameter, or bind it: `x <- …`.',
    )
  );
}

function checkMember(context: Context, of: TypedExpr, name: Name): TypedExpr {
  const owner = of.cardinality === 'lookup' ? single(of, 'error', `\`.${name.text}\``) : of;
  if (isList(owner) || !hasMembers(owner.type)) {
    const list = isList(owner) ? 'a list' : printItemType(owner.type);
    const message = `${list} has no member \`${name.text}\`.`;
    const plain = foreignStep(name.text) ?? 'Use the value itself.';
    const hint = hasMembers(owner.type) ? `Write \`x::{${name.text}}\`.` : plain;
    context.report('E104', name.span, message, hint);
    return unknownExpr();
  }
  const member = findMember(context, owner, name.text);
  if (member !== undefined) return member;
  const message = `There is no member \`${name.text}\`.`;
  const names = memberNames(context, owner);
  const known = names.length > 0 ? `There are ${names.slice(0, 12).join(', ')}.` : undefined;
  context.report('E658', name.span, message, didYouMean(name.text, names, known));
  return unknownExpr();
}

function checkJunction(context: Context, call: Call, scope: Scope): TypedExpr {
  const name = call.name.text;
  const args = call.args ?? [];
  if (args.length === 0 || args.some((arg) => arg.name !== undefined)) {
    const message = `\`${name}\` takes one or more conditions.`;
    context.report('E305', call.span, message, `Write \`${name}(a, b)\`.`);
  }
  const of = args.flatMap(({ value }) => toBoolean(context, value, scope, 'E306') ?? []);
  return scalarExpr('Boolean', { kind: name === 'AND' ? 'and' : 'or', of });
}

function checkExists(context: Context, call: Call, scope: Scope): TypedExpr {
  const written = argument(context, call, 'EXISTS(_::Out<EdgeType>)');
  if (written === undefined) return unknownExpr();
  const of = context.check(written, innerScope(scope, { miss: 'none' }));
  const { expression } = bare(context, of);
  return scalarExpr('Boolean', { kind: 'exists', of: expression });
}
