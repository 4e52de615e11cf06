// Converts filter layers to plan expressions over one item. The properties part becomes tests under
// `or` and `and`. Every traversal filter becomes the existence of a result of a small pipeline from
// the item.
//
// The item of a `where` has its own slot; each nested traversal uses the next one. An undefined
// expression means "always true".
import { excerpt, fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import { describe } from '../../json/validation-error.js';
import type { JsonView } from '../../json/view.js';
import type { Expression, SessionTest, Step } from '../../plan/expression.js';
import { type Arguments, inside, missing, optional, wrongKind } from '../argument/tool-argument.js';
import { requiredText, readText } from '../argument/argument-value.js';
import { buildCases } from '../argument/filter-operand.js';
import { isStepTool, parseStep, stepTools } from './step-tool.js';
import { findMeaning, type Vocabulary } from '../argument/vocabulary.js';

const operators = new Set<string>(['==', '!=', '>', '>=', '<', '<=']);
const placements = ['filter', 'filters'];

export interface Filter {
  /** Undefined if every item passes. */
  condition: Expression | undefined;
  slotCount: number;
  /** True if it reads more than the items themselves. */
  traverses: boolean;
}

/**
 * Returns the filter of a call: all layers in `data` or at top level, combined by AND. The item is in slot 0.
 */
export function parseFilter(
  objects: readonly JsonView[],
  vocabulary: Vocabulary,
  limits: Limits,
): Filter {
  const compiler = new FilterCompiler(vocabulary, limits);
  const condition = compiler.layers(objects, 0, 1);
  return { condition, slotCount: compiler.slotCount, traverses: compiler.traverses };
}

class FilterCompiler {
  slotCount = 1;
  traverses = false;
  #predicates = 0;

  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly limits: Limits,
  ) {}

  /** Returns the layers named `filter` and `filters` in the given objects, combined by AND. */
  layers(objects: readonly JsonView[], slot: number, depth: number): Expression | undefined {
    const found: (Expression | undefined)[] = [];
    for (const object of objects) {
      for (const name of placements) {
        const view = object.member(name);
        if (view !== undefined && view.kind !== 'null') found.push(this.#layer(view, slot, depth));
      }
    }
    return all(found);
  }

  #layer(view: JsonView, slot: number, depth: number): Expression | undefined {
    if (view.kind !== 'object') wrongKind('filter', 'a filter layer', view);
    const max = this.limits.filter_depth;
    if (depth > max) fail('FILTER_TOO_DEEP', { max }, { path: view.path });
    const properties = view.member('properties');
    const traversals = view.member('filter_traversals');
    return all([
      properties && this.#properties(properties, slot),
      traversals && this.#traversals(traversals, slot, depth),
    ]);
  }

  #properties(view: JsonView, slot: number): Expression | undefined {
    if (view.kind === 'null') return undefined;
    if (view.kind === 'object') return this.#group([view], slot);
    if (view.kind !== 'array') wrongKind('properties', 'an array of arrays', view);
    const entries = elementsOf(view);
    if (entries.length === 0) return undefined;
    if (entries[0]!.kind === 'object') return this.#group(entries, slot);
    const groups = entries.map((entry) => {
      if (entry.kind !== 'array') wrongKind('properties', 'an array of property filters', entry);
      return this.#group(elementsOf(entry), slot);
    });
    return any(groups);
  }

  #group(filters: readonly JsonView[], slot: number): Expression | undefined {
    this.#count(filters.length, filters[0]?.path);
    return all(filters.map((filter) => this.#test(filter, slot)));
  }

  #test(view: JsonView, slot: number): SessionTest {
    if (view.kind !== 'object') wrongKind('properties', 'a property filter', view);
    const args = inside('A property filter', view);
    const { text: key, path } = requiredText(args, 'key');
    const operator = parseOperator(view.member('operator'));
    const value = view.member('value') ?? missing(args, 'value', 'any value');
    const meaning = findMeaning(this.vocabulary, key, path);
    const list = value.kind === 'array';
    const max = this.limits.filter_values;
    if (value.length > max && list) {
      const args = { count: value.length, what: 'values in one list', max };
      fail('FILTER_TOO_LARGE', args, { path: value.path });
    }
    const values = list ? elementsOf(value) : [value];
    return { kind: 'test', slot, key, operator, list, ...buildCases(meaning, values) };
  }

  #traversals(view: JsonView, slot: number, depth: number): Expression | undefined {
    if (view.kind === 'null') return undefined;
    if (view.kind !== 'object' && view.kind !== 'array')
      wrongKind('filter_traversals', 'an array of traversal filters', view);
    const filters = view.kind === 'object' ? [view] : elementsOf(view);
    this.#count(filters.length, view.path);
    return all(filters.map((filter) => this.#traversal(filter, slot, depth)));
  }

  /** At least one element is reached and passes the filters inside the traversal filter. */
  #traversal(view: JsonView, slot: number, depth: number): Expression | undefined {
    if (view.kind !== 'object') wrongKind('filter_traversals', 'a traversal filter', view);
    const { text: tool, path } = requiredText(inside('A traversal filter', view), 'tool_name');
    const args = optional(inside(tool, view), 'args');
    if (args !== undefined && args.kind !== 'object') wrongKind('args', 'an object', args);
    const objects = args === undefined ? [] : [args];
    const inner = [...objects, view];
    if (tool === 'filter_items') return this.layers(inner, slot, depth + 1);
    if (!isStepTool(tool)) {
      const hint = `Allowed here: ${[...stepTools, 'filter_items'].join(', ')}.`;
      fail('UNKNOWN_TOOL', { tool: excerpt(tool) }, { path, hint });
    }
    const owned: Arguments = { owner: tool, objects, path: `${view.path}/args` };
    const step = parseStep(tool, owned, this.vocabulary);
    this.traverses = true;
    return existsAfter(slot, step, this.#inner(inner, slot + 1, depth + 1), slot + 1);
  }

  #inner(objects: readonly JsonView[], slot: number, depth: number) {
    const condition = this.layers(objects, slot, depth);
    if (condition !== undefined) this.slotCount = Math.max(this.slotCount, slot + 1);
    return condition;
  }

  #count(more: number, path: string | undefined): void {
    this.#predicates += more;
    const max = this.limits.filter_predicates;
    if (this.#predicates <= max) return;
    const args = { count: this.#predicates, what: 'predicates', max };
    fail('FILTER_TOO_LARGE', args, path === undefined ? {} : { path });
  }
}

function existsAfter(
  slot: number,
  step: Step,
  condition: Expression | undefined,
  inner: number,
): Expression {
  const steps = [step];
  if (condition !== undefined)
    steps.push({ kind: 'where', condition: { slot: inner, value: condition } });
  steps.push({ kind: 'first' });
  const source = { kind: 'value' as const, of: { kind: 'slot' as const, slot } };
  return { kind: 'exists', of: { kind: 'pipeline', source, steps, result: 'opt' } };
}

/** Absent and null, as clients send for optional members, mean `==`. */
function parseOperator(view: JsonView | undefined): SessionTest['operator'] {
  if (view === undefined || view.kind === 'null') return '==';
  const text = view.kind === 'string' ? readText(view, 'operator') : describe(view);
  if (view.kind === 'string' && operators.has(text)) return text as SessionTest['operator'];
  fail('UNKNOWN_OPERATOR', { operator: excerpt(text) }, { path: view.path });
}

const elementsOf = (view: JsonView): JsonView[] =>
  Array.from({ length: view.length }, (_, i) => view.at(i));

/** Returns a condition that is true if every part is true. */
function all(parts: readonly (Expression | undefined)[]): Expression | undefined {
  const of = parts.filter((part) => part !== undefined);
  return of.length < 2 ? of[0] : { kind: 'and', of };
}

/** Returns a condition that is true if one part is true; an undefined part is true. */
function any(parts: readonly (Expression | undefined)[]): Expression | undefined {
  const of = parts.filter((part) => part !== undefined);
  if (of.length < parts.length) return undefined;
  return of.length < 2 ? of[0] : { kind: 'or', of };
}
