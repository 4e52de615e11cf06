// Tools that read or arrange the whole traversal: collect, order_by, group_by, aggregate_by.
import { excerpt, fail } from '../../base/errors.js';
import { quote } from '../../json/validation-error.js';
import type { JsonView } from '../../json/view.js';
import type { Step } from '../../plan/expression.js';
import {
  type Arguments,
  dataPath,
  find,
  optional,
  required,
  wrongKind,
} from '../argument/tool-argument.js';
import { flag, readInteger, requiredText, readText } from '../argument/argument-value.js';
import { lengthOf } from '../session.js';
import { estimateCost, itemsSource, pipeline, propertyOf, sessionPlan } from '../session-plan.js';
import { overItems } from './traversal-tool.js';
import { type Meaning, findMeaning, type Vocabulary } from '../argument/vocabulary.js';
import { includeData, type Tool } from '../tool-context.js';

/** Returns the items at the positions of `range`; drops the traversal unless the arguments keep it. */
export const collect: Tool = (args, { traversal }) => {
  const { start, end } = parseRange(args, lengthOf(traversal));
  const after = flag(args, 'drop', true) ? 'blank' : 'keep';
  const data = includeData(args);
  if (start >= end) return { kind: 'answer', body: '[]', after };
  const value = pipeline(itemsSource(end, start));
  const plan = sessionPlan(args.owner, { kind: 'bare', value, data }, estimateCost(end - start));
  return { kind: 'run', plan, args: [], after };
};

/** Positions start <= i < end, cut to the traversal; a negative or null end means the last item. */
function parseRange(args: Arguments, length: number): { start: number; end: number } {
  const range = optional(args, 'range');
  if (range === undefined) return { start: 0, end: length };
  if (range.kind !== 'object') wrongKind('range', 'an object', range);
  const first = range.member('start');
  const start =
    first === undefined || first.kind === 'null' ? 0 : readInteger(first, 'range.start');
  if (start < 0) {
    const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
    const got = quote(first!);
    fail('PARAM_RANGE', { param: 'range.start', ...bounds, got }, { path: first!.path });
  }
  const last = range.member('end');
  const end = last === undefined || last.kind === 'null' ? -1 : readInteger(last, 'range.end');
  return { start, end: end < 0 ? length : Math.min(end, length) };
}

/** Orders by one or more keys; the ordered list becomes the traversal. */
export const orderBy: Tool = (args, caller, { vocabulary }) => {
  const names = parseNames(args);
  const keys = names.map(({ name, path }) => {
    if (isListed(findMeaning(vocabulary, name, path))) {
      const got = `the list \`${name}\``;
      fail(
        'PARAM_VALUE',
        { param: 'properties', allowed: 'single-valued properties', got },
        { path },
      );
    }
    return propertyOf(name);
  });
  const { text, path } = requiredText(args, 'order');
  const order = text.toLowerCase();
  if (order !== 'asc' && order !== 'desc') {
    const got = `"${excerpt(text)}"`;
    fail('PARAM_VALUE', { param: 'order', allowed: '"asc" or "desc"', got }, { path });
  }
  const descending = order === 'desc';
  const sortKeys = keys.map((value) => ({ value, descending, nullsFirst: false }));
  const step: Step = { kind: 'order', slot: 0, keys: sortKeys };
  return overItems(args, caller, [step], estimateCost, 1);
};

/** Returns true if every type that has the property declares it as a list. */
function isListed({ declared, anywhere }: Meaning): boolean {
  return (
    anywhere === undefined && declared.length > 0 && declared.every(({ of }) => of.kind === 'list')
  );
}

/** Groups by the values of properties: returns counts, or counts with the items. */
export function groupTool(tool: 'group_by' | 'aggregate_by'): Tool {
  return (args, { traversal }, { vocabulary, limits }) => {
    const keys = groupKeys(args, tool, vocabulary, limits.group_properties);
    const after = flag(args, 'drop', false) ? 'blank' : 'keep';
    const data = includeData(args);
    const count = lengthOf(traversal);
    if (count === 0) return { kind: 'answer', body: '[]', after };
    const step: Step = { kind: 'group', slot: 0, keys, data: tool === 'aggregate_by' };
    const value = pipeline(itemsSource(count), [step]);
    const plan = sessionPlan(tool, { kind: 'bare', value, data }, estimateCost(count), 1);
    return { kind: 'run', plan, args: [], after };
  };
}

function groupKeys(args: Arguments, tool: string, vocabulary: Vocabulary, max: number) {
  const names = parseNames({ ...args, path: args.path === dataPath ? '' : args.path });
  const { path } = find(args, 'properties')!;
  if (names.length > max) refuse(`at most ${max} names`, `${names.length}`, path);
  if (new Set(names.map(({ name }) => name)).size < names.length)
    refuse('distinct names', 'one of them twice', path);
  if (tool === 'group_by' && names.some(({ name }) => name === 'count'))
    refuse('names other than `count`', '`count`', path);
  return names.map(({ name, path }) => {
    findMeaning(vocabulary, name, path);
    return { name, value: propertyOf(name) };
  });
}

/** Returns the names in `properties`: one string, or an array of at least one. */
function parseNames(args: Arguments): { name: string; path: string }[] {
  const view = required(args, 'properties', '[String]');
  if (view.kind !== 'array') return [nameAt(view)];
  if (view.length === 0) refuse('at least one name', 'none', view.path);
  return Array.from({ length: view.length }, (_, i) => nameAt(view.at(i)));
}

const nameAt = (view: JsonView) => ({ name: readText(view, 'properties'), path: view.path });

function refuse(allowed: string, got: string, path: string): never {
  fail('PARAM_VALUE', { param: 'properties', allowed, got }, { path });
}
