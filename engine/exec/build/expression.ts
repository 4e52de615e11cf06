// Compiles expressions to closures over a frame. Families with rules of their own have separate files; all
// others are here.
import { assert, unreachable } from '../../base/assert.js';
import { fail } from '../../base/errors.js';
import type { Expression } from '../../plan/expression.js';
import { embeddingKey } from '../runtime/execute.js';
import { readText } from '../runtime/step-argument.js';
import type { Builder } from '../runtime/build-context.js';
import { buildAggregate } from '../expression/aggregate.js';
import { buildCompare } from '../expression/compare.js';
import { buildCoalesce, buildIf } from '../expression/branch.js';
import { buildDate } from '../expression/date.js';
import { buildText } from '../expression/text.js';
import { buildLets } from '../expression/let-binding.js';
import { buildHoisted } from '../expression/hoisted-operand.js';
import { buildMath } from '../expression/math.js';
import { buildTest } from '../expression/session-filter.js';
import { buildSemiJoin } from './semi-join.js';
import { collect, firstOf, isInhabited } from '../runtime/collect.js';
import {
  buildAddEdge,
  buildAddNode,
  buildAddVector,
  buildAddVectors,
  buildUpsertEdge,
} from '../change/create.js';
import { drop } from '../change/update-steps.js';
import { rowsOfValue } from '../operators/source.js';
import { buildProject } from '../reply/project.js';
import { isListValue, RecordValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

export function buildExpression(builder: Builder, expression: Expression): Evaluate {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'now':
      return (frame) => frame.context.now;
    case 'parameter': {
      const { index } = expression;
      return (frame) => (frame.args[index] ?? null) as Value;
    }
    case 'slot': {
      const { slot } = expression;
      return (frame) => frame.slots[slot]!;
    }
    case 'property': {
      const of = builder.value(expression.of);
      const read = builder.member(expression.name);
      return (frame) => read(frame, of(frame));
    }
    case 'captured':
      return buildCaptured(builder, expression);
    case 'hoisted':
      return buildHoisted(builder, expression);
    case 'semiJoin':
      return buildSemiJoin(builder, expression);
    case 'with': {
      const fill = buildLets(builder, expression);
      const value = builder.value(expression.value);
      return (frame) => {
        fill(frame);
        return value(frame);
      };
    }
    case 'single':
      return buildSingle(builder, expression);
    case 'compare':
      return buildCompare(builder, expression);
    case 'and':
    case 'or':
      return buildJunction(builder, expression);
    case 'not': {
      const of = builder.value(expression.of);
      return (frame) => of(frame) !== true;
    }
    case 'exists':
      return buildExists(builder, expression);
    case 'math':
      return buildMath(builder, expression);
    case 'aggregate':
      return buildAggregate(builder, expression);
    case 'test':
      return buildTest(builder, expression);
    case 'if':
      return buildIf(builder, expression);
    case 'coalesce':
      return buildCoalesce(builder, expression);
    case 'text':
      return buildText(builder, expression);
    case 'date':
      return buildDate(builder, expression);
    default:
      return buildComposite(builder, expression);
  }
}

type Composite = Kind<
  | 'list'
  | 'record'
  | 'embed'
  | 'pipeline'
  | 'project'
  | 'addNode'
  | 'addVector'
  | 'addVectors'
  | 'addEdge'
  | 'upsertEdge'
  | 'drop'
>;

/** Compiles expressions that create lists, records and elements. */
function buildComposite(builder: Builder, expression: Composite): Evaluate {
  switch (expression.kind) {
    case 'list': {
      const items = expression.items.map((item) => builder.value(item));
      return (frame) => items.map((item) => item(frame));
    }
    case 'record': {
      const names = expression.members.map((member) => member.name);
      const values = expression.members.map((member) => builder.value(member.value));
      return (frame) =>
        new RecordValue(
          names,
          values.map((value) => value(frame)),
        );
    }
    case 'embed':
      return buildEmbed(builder, expression);
    case 'pipeline': {
      const flow = builder.flow(expression);
      return expression.result === 'many'
        ? (frame) => collect(flow, frame)
        : (frame) => firstOf(flow, frame);
    }
    case 'project':
      return buildProject(builder, expression);
    case 'addNode':
      return buildAddNode(builder, expression);
    case 'addVector':
      return buildAddVector(builder, expression);
    case 'addVectors':
      return buildAddVectors(builder, expression);
    case 'addEdge':
      return buildAddEdge(builder, expression);
    case 'upsertEdge':
      return buildUpsertEdge(builder, expression);
    case 'drop':
      return buildDrop(builder, expression);
    default:
      return unreachable(expression);
  }
}

function buildDrop(builder: Builder, { of }: Kind<'drop'>): Evaluate {
  const flow = of.kind === 'pipeline' ? builder.flow(of) : rowsOfValue(builder.value(of));
  return (frame) => drop(frame, flow);
}

/** Reads the value that the item's binding has computed, otherwise computes it now. */
function buildCaptured(builder: Builder, { key, of, value }: Kind<'captured'>): Evaluate {
  const item = builder.value(of);
  const compute = builder.value(value);
  return (frame) => {
    const bound = item(frame);
    const captured =
      typeof bound === 'object' && bound !== null ? frame.retainedValue(bound, key) : undefined;
    return captured === undefined ? compute(frame) : captured;
  };
}

/** Returns the only item of a list, where one item is required. */
function buildSingle(builder: Builder, { of, miss, valueName }: Kind<'single'>): Evaluate {
  const evaluate = builder.value(of);
  return (frame) => {
    const value = evaluate(frame);
    if (value !== null && !isListValue(value)) return value;
    const count = value === null ? 0 : value.length;
    if (count > 1) fail('EXPECTED_ONE', { place: valueName, count });
    const item = count === 1 ? (value as readonly Value[])[0]! : null;
    if (item === null && miss === 'error') fail('NO_VALUE_FOUND', { what: valueName });
    return item;
  };
}

/** Evaluates from left to right and stops early. Only true counts as true. */
function buildJunction(builder: Builder, { kind, of }: Kind<'and' | 'or'>): Evaluate {
  const conditions = of.map((condition) => builder.value(condition));
  const decisive = kind === 'or';
  return (frame) => {
    for (const condition of conditions)
      if ((condition(frame) === true) === decisive) return decisive;
    return !decisive;
  };
}

function buildExists(builder: Builder, { of }: Kind<'exists'>): Evaluate {
  if (of.kind === 'pipeline' && of.result === 'many') {
    const flow = builder.flow(of);
    return (frame) => isInhabited(flow, frame);
  }
  const evaluate = builder.value(of);
  return (frame) => {
    const value = evaluate(frame);
    return isListValue(value) ? value.length > 0 : value !== null;
  };
}

function buildEmbed(builder: Builder, { text, type, isQuery }: Kind<'embed'>): Evaluate {
  const evaluate = builder.value(text);
  return (frame) => {
    const key = embeddingKey(type, readText(frame, evaluate, 'Embed'), isQuery);
    const vector = frame.context.embeddings.get(key);
    assert(vector, 'every text of the plan was embedded before the transaction');
    return vector;
  };
}
