// Tools that replace the traversal and return its first item: the two sources, the four steps, the filter.
import type { CostClass, Output } from '../../plan/plan.js';
import type { Source, Step } from '../../plan/expression.js';
import type { Arguments } from '../argument/tool-argument.js';
import { requiredText } from '../argument/argument-value.js';
import { parseFilter } from './filter-layer.js';
import { lengthOf } from '../session.js';
import {
  estimateCost,
  estimateExpandCost,
  itemsSource,
  pipeline,
  sessionPlan,
} from '../session-plan.js';
import { parseStep, type StepTool } from './step-tool.js';
import { unknownType } from '../argument/vocabulary.js';
import { type Caller, includeData, type Tool, type Work } from '../tool-context.js';

/** `n_from_type` and `e_from_type`: all elements of a type, oldest first. */
export function fromType(kind: 'node' | 'edge'): Tool {
  return (args, _, { vocabulary }) => {
    const { text: name, path } = requiredText(args, `${kind}_type`);
    const known = kind === 'node' ? vocabulary.nodes : vocabulary.edges;
    if (!known.has(name)) unknownType(kind, name, known.keys(), path);
    const source: Source = { kind: 'scan', types: [{ kind, name }] };
    return replace(args, source, [], estimateExpandCost(1), 0);
  };
}

export function stepTool(tool: StepTool): Tool {
  return (args, caller, { vocabulary }) =>
    overItems(args, caller, [parseStep(tool, args, vocabulary)], estimateExpandCost, 0);
}

/** Keeps the items that pass every filter layer of the call. */
export const filterItems: Tool = (args, caller, { vocabulary, limits }) => {
  const { condition, slotCount, traverses } = parseFilter(args.objects, vocabulary, limits);
  const steps: Step[] =
    condition === undefined ? [] : [{ kind: 'where', condition: { slot: 0, value: condition } }];
  return overItems(args, caller, steps, traverses ? estimateExpandCost : estimateCost, slotCount);
};

/**
 * Returns the first item after `steps` over the whole traversal; a blank session returns null and stays
 * blank.
 */
export function overItems(
  args: Arguments,
  { traversal }: Caller,
  steps: Step[],
  cost: (rows: number) => CostClass,
  slotCount: number,
): Work {
  const count = lengthOf(traversal);
  const work = replace(args, itemsSource(count), steps, cost(count), slotCount);
  return traversal.items === undefined ? { kind: 'answer', body: 'null', after: 'keep' } : work;
}

function replace(
  args: Arguments,
  source: Source,
  steps: Step[],
  cost: CostClass,
  slotCount: number,
): Work {
  const value = pipeline(source, steps);
  const output: Output = { kind: 'items', value, answer: 'first', data: includeData(args) };
  const plan = sessionPlan(args.owner, output, cost, slotCount);
  return { kind: 'run', plan, args: [], after: 'replace' };
}
