// The semantic oracle: a naive interpreter of plans over plain arrays. It imports nothing of the
// executor and knows no index, batch, or laziness; where the engine answers otherwise, one of the
// two is wrong by helixql.md.
import { unreachable } from '../../../engine/base/assert.js';
import { fail } from '../../../engine/base/errors.js';
import type { Instant } from '../../../engine/base/value.js';
import type { CompareOperator, Expression, SessionTest } from '../../../engine/plan/expression.js';
import type { Plan, Statement } from '../../../engine/plan/plan.js';
import type { OracleGraph } from './oracle-graph.js';
import { aggregate, calculate } from './oracle-math.js';
import { callFunction } from './function/evaluate.js';
import { styleOf, type Tree, treeOf } from './oracle-print.js';
import { keepAll, memberOf, membersOf, type Run } from './oracle-run.js';
import { open, take } from './oracle-step.js';
import { compare, equal, ordered, singles } from './oracle-compare.js';
import { isList, Item, Rec, rowsOf, type Value } from './oracle-value.js';
import { createEdges, createNode, createVector, elementsIn, upsertEdges } from './oracle-write.js';

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

export interface OracleAnswer {
  tree: Tree;
  /** Plans of sessions: the new traversal. */
  items?: Item[];
}

export interface OracleCall {
  graph: OracleGraph;
  plan: Plan;
  args: readonly Value[];
  now: Instant;
  items?: readonly Item[];
}

/** Runs a plan; a request that fails leaves the graph as it was. Fails with TrellisError. */
export function runOracle({ graph, plan, args, now, items = [] }: OracleCall): OracleAnswer {
  const saved = graph.save();
  const { compat } = plan;
  const run: Run = {
    graph,
    args,
    now,
    compat,
    items,
    slots: new Array<Value>(plan.slotCount).fill(null),
    kept: new Map(),
    value: (expression) => evaluate(run, expression),
    rows: ({ source, steps }) =>
      steps.reduce((rows, step) => take(run, step, rows), open(run, source)),
  };
  try {
    perform(run, plan.statements);
    return answer(run, plan);
  } catch (error) {
    graph.restore(saved);
    throw error;
  }
}

function perform(run: Run, statements: readonly Statement[]): void {
  for (const statement of statements) {
    switch (statement.kind) {
      case 'bind':
        run.slots[statement.slot] = keepAll(run, statement.keep, run.value(statement.value));
        break;
      case 'effect':
        run.value(statement.value);
        break;
      case 'drop':
        for (const element of elementsIn(run.value(statement.value))) run.graph.remove(element);
        break;
      case 'for':
        for (const item of rowsOf(keepAll(run, statement.keep, run.value(statement.in)))) {
          statement.slots.forEach((slot, i) => {
            const name = statement.members?.[i];
            run.slots[slot] = name === undefined ? item : memberOf(run, item, name);
          });
          perform(run, statement.body);
        }
        break;
      default:
        unreachable(statement);
    }
  }
}

function answer(run: Run, plan: Plan): OracleAnswer {
  const { output } = plan;
  const style = styleOf(plan);
  switch (output.kind) {
    case 'object':
      return {
        tree: new Map(
          output.members.map(({ key, value, form }) => [
            key,
            treeOf(run, run.value(value), style, form),
          ]),
        ),
      };
    case 'bare':
      return { tree: treeOf(run, run.value(output.value), style, output.form) };
    case 'items': {
      const items = run.rows(output.value).filter((row): row is Item => row instanceof Item);
      const trees = items.map((item) => treeOf(run, item, style));
      return { tree: output.answer === 'all' ? trees : (trees[0] ?? null), items };
    }
    case 'inspection':
      throw new Error('the oracle knows queries and sessions');
    default:
      return unreachable(output);
  }
}

function evaluate(run: Run, expression: Expression): Value {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return value instanceof Float64Array ? [...value] : (value as Value);
    }
    case 'now':
      return run.now;
    case 'parameter':
      return run.args[expression.index] ?? null;
    case 'slot':
      return run.slots[expression.slot]!;
    case 'property':
      return memberOf(run, run.value(expression.of), expression.name);
    case 'captured': {
      const kept = run.kept.get(run.value(expression.of))?.get(expression.key);
      return kept === undefined ? run.value(expression.value) : kept;
    }
    case 'hoisted':
    case 'semiJoin':
      return run.value(expression.of);
    case 'with':
      for (const { slot, value } of expression.lets) run.slots[slot] = run.value(value);
      return run.value(expression.value);
    case 'single':
      return only(run, expression);
    case 'compare':
      return test(run, expression);
    case 'and':
      return expression.of.every((one) => run.value(one) === true);
    case 'or':
      return expression.of.some((one) => run.value(one) === true);
    case 'not':
      return run.value(expression.of) !== true;
    case 'exists':
      return exists(run, expression.of);
    case 'math':
      return calculate(
        expression.function,
        expression.integer,
        expression.of.map((one) => run.value(one)),
      );
    case 'aggregate':
      return aggregate(expression.function, expression.integer, rowsOf(run.value(expression.of)));
    case 'test':
      return sessionTest(run, expression);
    case 'if':
    case 'coalesce':
    case 'text':
    case 'date':
      return callFunction(run, expression);
    default:
      return compose(run, expression);
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

function compose(run: Run, expression: Composite): Value {
  switch (expression.kind) {
    case 'list':
      return expression.items.map((item) => run.value(item));
    case 'record':
      return new Rec(expression.members.map(({ name, value }) => [name, run.value(value)]));
    case 'embed':
      throw new RangeError('the worlds of the oracle embed nothing');
    case 'pipeline': {
      const rows = run.rows(expression);
      return expression.result === 'many' ? rows : (rows[0] ?? null);
    }
    case 'project': {
      const value = run.value(expression.of);
      if (isList(value)) return value.map((item) => shape(run, expression, item));
      return shape(run, expression, value);
    }
    case 'addNode':
      return createNode(run, expression.type, expression.set);
    case 'addVector':
      return createVector(run, expression.type, run.value(expression.vector), expression.set);
    case 'addVectors':
      return rowsOf(run.value(expression.vectors)).map((vector) =>
        createVector(run, expression.type, vector, []),
      );
    case 'addEdge':
      return createEdges(run, expression.type, expression.set, expression);
    case 'upsertEdge':
      return upsertEdges(run, expression);
    case 'drop': {
      const found = elementsIn(run.value(expression.of)).filter(({ alive }) => alive);
      const gone = new Set(found);
      for (const element of gone) run.graph.remove(element);
      return gone.size;
    }
    default:
      return unreachable(expression);
  }
}

function shape(run: Run, { slot, members }: Kind<'project'>, item: Value): Value {
  if (item === null) return null;
  return new Rec(
    members.flatMap((member) => {
      run.slots[slot] = item;
      if (member.kind === 'spread') return membersOf(run, item, member.except);
      return [[member.name, run.value(member.value)] as const];
    }),
  );
}

function only(run: Run, { of, miss, valueName: place }: Kind<'single'>): Value {
  const value = run.value(of);
  const rows = rowsOf(value);
  if (isList(value) && rows.length > 1) fail('EXPECTED_ONE', { place, count: rows.length });
  const item = rows[0] ?? null;
  return item === null && miss === 'error' ? fail('NO_VALUE_FOUND', { what: place }) : item;
}

function exists(run: Run, of: Expression): boolean {
  const value = run.value(of);
  return isList(value) ? value.length > 0 : value !== null;
}

const comparisons: Record<CompareOperator, (a: Value, b: Value) => boolean> = {
  EQ: equal,
  NEQ: (a, b) => !equal(a, b),
  GT: (a, b) => ordered(a, b, (order) => order > 0),
  GTE: (a, b) => ordered(a, b, (order) => order >= 0),
  LT: (a, b) => ordered(a, b, (order) => order < 0),
  LTE: (a, b) => ordered(a, b, (order) => order <= 0),
  CONTAINS: (a, b) => {
    if (typeof a === 'string') return typeof b === 'string' && a.includes(b);
    return b !== null && isList(a) && a.some((item) => equal(item, b));
  },
  IS_IN: (a, b) => a !== null && b !== null && rowsOf(b).some((item) => equal(a, item)),
  STARTS_WITH: (a, b) => typeof a === 'string' && typeof b === 'string' && a.indexOf(b) === 0,
  ENDS_WITH: (a, b) =>
    typeof a === 'string' && typeof b === 'string' && a.slice(a.length - b.length) === b,
};

function test(run: Run, { operator, left, right, any, f32 }: Kind<'compare'>): boolean {
  const cut = f32 ? singles : (value: Value) => value;
  const b = cut(run.value(right));
  const a = run.value(left);
  const holds = (one: Value) => comparisons[operator](cut(one), b);
  return any ? rowsOf(a).some(holds) : holds(a);
}

/** sessions.md 6.3 and 6.4. */
function sessionTest(run: Run, { slot, key, operator, cases, attribute }: SessionTest): boolean {
  const item = run.slots[slot];
  if (!(item instanceof Item)) return false;
  const { kind, name } = item.element.type;
  const own = cases.find(({ type }) => type.kind === kind && type.name === name);
  const operands = own?.values ?? attribute;
  const value = memberOf(run, item, key);
  if (operands === undefined || value === null) return false;
  const some = [value].flat().some((a: Value) =>
    operands.some((b) => {
      if (b.kind === 'incomparable' || a === null) return false;
      if (b.kind === 'value' && b.value === null) return false;
      // A fraction lies between `floor` and the next integer.
      const order =
        b.kind === 'fraction' ? (compare(a, b.floor) > 0 ? 1 : -1) : compare(a, b.value);
      if (operator === '==' || operator === '!=') return order === 0;
      if (order === 0) return operator.endsWith('=');
      return order < 0 === operator.startsWith('<');
    }),
  );
  return operator === '!=' ? !some : some;
}
