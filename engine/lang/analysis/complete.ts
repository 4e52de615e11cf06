// Computes completions at a position. The word there is replaced by a name that does not exist, and open
// brackets are closed. The checker then reports in which role it met that name.
import { elementMember, elementMembers } from '../type/schema-index.js';
import { headNames, stepNames } from '../expression/check-chain.js';
import type { ElementKind } from '../../base/schema.js';
import type { Call, Chain, Expr } from '../syntax/ast-expression.js';
import type { TypeNode } from '../syntax/ast-schema.js';
import { findName, type Scope, visibleNames } from '../type/scope.js';
import { isList, type TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import type { Source } from '../compile.js';
import type { Span } from '../syntax/source-file.js';
import { scalarNames } from '../schema/schema-checker.js';
import { type AnalyzeOptions, type Findings, collectFindings } from './analyze.js';
import { printValueType } from './occurrence.js';
import { typesMeant } from './symbol-key.js';

export interface Completion {
  label: string;
  kind: 'step' | 'property' | 'type' | 'variable' | 'function' | 'keyword';
  detail: string;
}

const placeholder = 'zzzHere';

export function complete(
  sources: readonly Source[],
  path: string,
  offset: number,
  options: AnalyzeOptions,
): Completion[] {
  const source = sources.find((each) => each.path === path);
  if (source === undefined || typeof source.text !== 'string') return [];
  const { text } = source;
  const { memo } = options;
  const typed = /\w*$/.exec(text.slice(0, offset))![0];
  const head = text.slice(0, offset - typed.length) + placeholder;
  const rest = text.slice(offset).replace(/^\w*/, '');
  const only = queryAround(path, head.replace(/^\uFEFF/, '').length);
  for (const tail of [rest, findClosers(head) + rest.replace(/^[^\r\n]*/, '')]) {
    const changed = sources.map((each) => (each === source ? { path, text: head + tail } : each));
    const own = { ...options, only, literal: true, ...(memo && { memo: memo.copy() }) };
    const found = completionsIn(collectFindings(changed, own), path);
    if (found !== undefined) return found;
  }
  return keywords(['QUERY', 'N', 'E', 'V', 'MIGRATION', 'schema', 'RETURN', 'FOR', 'DROP']);
}

/**
 * Returns a test for queries that may contain the text which ends at an offset. No other query can have met
 * the word.
 */
const queryAround =
  (path: string, offset: number) =>
  (of: string, { span }: { span: Span }): boolean =>
    of === path && span.start < offset && offset <= span.end;

/** Returns the brackets that close what the text leaves open in its last item. */
function findClosers(text: string): string {
  const from = Math.max(text.lastIndexOf('QUERY '), text.lastIndexOf('\n\n'), 0);
  const signs = text.slice(from).replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*/g, '');
  const open: string[] = [];
  for (const [sign] of signs.matchAll(/<-|=>|[<>()[\]{}]/g)) {
    const closer = { '(': ')', '[': ']', '{': '}', '<': '>' }[sign];
    if (closer !== undefined) open.push(closer);
    else if (sign === open.at(-1)) open.pop();
  }
  return open.reverse().join('');
}

function completionsIn(findings: Findings, path: string): Completion[] | undefined {
  const { facts, sources } = findings;
  for (const [step, { input }] of facts.steps) {
    if (step.kind === 'call') {
      if (isHere(step.name)) return [...listMembers(findings, input), ...stepsFor(input)];
      const inside = insideCall(findings, step);
      if (inside !== undefined) return inside;
    } else if (step.kind === 'exclusion' ? step.names.some(isHere) : step.items.some(isBareHere)) {
      return listMembers(findings, input);
    }
  }
  for (const head of facts.heads.keys()) {
    const inside = head.kind === 'call' ? insideCall(findings, head) : undefined;
    if (inside !== undefined) return inside;
  }
  for (const [expr, { scope }] of facts.values) if (isHead(expr)) return valuesIn(scope);
  const tree = sources.find(({ file }) => file.path === path)?.tree;
  const types = [
    ...(tree?.types.flatMap(({ declaration }) => declaration.fields) ?? []),
    ...(tree?.queries.flatMap(({ parameters }) => parameters) ?? []),
  ];
  if (types.some(({ type }) => isTypeHere(type))) {
    return scalarNames().map((label) => ({ label, kind: 'type', detail: '' }));
  }
  const ends = tree?.types.flatMap(({ declaration: { from, to } }) => [from, to]) ?? [];
  return ends.some((end) => end !== undefined && isHere(end))
    ? typeNames(findings, ['node', 'vector'])
    : undefined;
}

const isHere = ({ text }: { text: string }): boolean => text === placeholder;

const isBareHere = (item: { kind: string; name?: { text: string }; value?: unknown }): boolean =>
  item.name !== undefined && item.value === undefined && isHere(item.name);

function isHead(expr: Expr): expr is Chain {
  if (expr.kind !== 'chain') return false;
  const { head } = expr;
  return head.kind === 'path' ? isHere(head.names[0]) : head.kind === 'call' && isHere(head.name);
}

function isTypeHere(type: TypeNode): boolean {
  if (type.kind === 'name') return isHere(type.name);
  return type.kind === 'list'
    ? isTypeHere(type.of)
    : type.fields.some((each) => isTypeHere(each.type));
}

/** Completes inside the angle brackets of a call, or a member of its object argument. */
function insideCall(findings: Findings, { name, types = [], args = [] }: Call) {
  const kinds = typesMeant(name.text);
  if (types.some(isHere)) {
    if (name.text === 'ORDER') return keywords(['Asc', 'Desc']);
    return typeNames(findings, kinds);
  }
  const isMember = args.some(
    ({ value }) => value.kind === 'object' && value.members.some((member) => isHere(member.name)),
  );
  const [type] = types;
  if (!isMember || type === undefined) return undefined;
  const kind = kinds.find((each) => findings.schema.find(each, type.text) !== undefined);
  const properties = kind && findings.schema.find(kind, type.text)!.properties;
  return properties?.map(({ name: label, type: of }) => ({
    label,
    kind: 'property' as const,
    detail: of.kind === 'scalar' ? of.name : of.kind,
  }));
}

const keywords = (labels: readonly string[]): Completion[] =>
  labels.map((label) => ({ label, kind: 'keyword', detail: '' }));

const typeNames = ({ schema }: Findings, kinds: readonly ElementKind[]): Completion[] =>
  kinds.flatMap((kind) =>
    schema.names(kind).map((label) => ({ label, kind: 'type' as const, detail: `${kind} type` })),
  );

function valuesIn(scope: Scope): Completion[] {
  const names = [...new Set(visibleNames(scope))].filter((name) => name !== placeholder);
  const variables = names.map((label): Completion => {
    return { label, kind: 'variable', detail: printValueType(findName(scope, label)!) };
  });
  const functions = headNames.map((label): Completion => ({ label, kind: 'function', detail: '' }));
  return [
    ...variables,
    ...functions,
    ...keywords(['RETURN', 'FOR', 'DROP', 'NONE', 'true', 'false']),
  ];
}

function listMembers({ schema }: Findings, { type, shape }: TypedExpr): Completion[] {
  const own = (shape?.members ?? []).flatMap((member): Completion[] =>
    member.kind === 'value'
      ? [{ label: member.name, kind: 'property', detail: printValueType(member.typed) }]
      : [],
  );
  const property = (label: string, detail: string): Completion[] =>
    own.some((each) => each.label === label) ? [] : [{ label, kind: 'property', detail }];
  if (type.kind === 'record') {
    const members = [...type.members].flatMap(([name, of]) => property(name, printItemType(of)));
    return [...own, ...members];
  }
  if (type.kind !== 'element') return own;
  const names = elementMembers(schema, type.types);
  const members = names.flatMap((name) => {
    const of = elementMember(schema, type.types, name);
    return property(name, of === undefined ? '' : printItemType(of));
  });
  return [...own, ...members];
}

const comparing = /^(N?EQ|[GL]TE?|CONTAINS|IS_IN|STARTS_WITH|ENDS_WITH)$/;
const ofList = /^(RANGE|FIRST|COUNT|DEDUP|ORDER|WHERE|GROUP_BY|AGGREGATE_BY|INTERSECT|PREFILTER)$/;
const ofEdge = /^(From|To)[NV]$|^Other$/;

/** Returns the steps that apply to an item of this type. */
function stepsFor(input: TypedExpr): Completion[] {
  return stepNames
    .filter((name) => applies(name, input))
    .map((label) => {
      return { label, kind: 'step', detail: '' };
    });
}

function applies(step: string, input: TypedExpr): boolean {
  const { type, shape } = input;
  if (shape?.members.length === 1 && comparing.test(step)) return true;
  if (type.kind === 'scalar' && type.name === 'Unknown') return true;
  if (type.kind !== 'element') {
    return comparing.test(step) || ((isList(input) || type.kind === 'list') && ofList.test(step));
  }
  if (comparing.test(step)) return false;
  const isEdge = type.types.length > 0 && type.types.every(({ kind }) => kind === 'edge');
  const isWalk = /^(Out|In|Both)E?$|^ShortestPath|^SearchV$/.test(step);
  return isEdge ? !isWalk : !ofEdge.test(step);
}
