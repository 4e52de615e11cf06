// Conditions of the sentences: comparisons of single values, of what is reached, of elements; AND,
// OR, `!`, EXISTS.
import type { CompareOperator } from '../../../engine/plan/expression.js';
import { same } from '../oracle/oracle-compare.js';
import { Item, rowsOf, type Value } from '../oracle/oracle-value.js';
import { compares, isTrue, member } from './meaning.js';
import type { Elements, Env, Part, Scope, Writer } from './part.js';
import type { ScalarName } from './type.js';
import { literal, named } from './scalar.js';
import { propertiesOf } from './fixture.js';

const bool = (text: string, of: Part['of']): Part => ({
  text,
  type: { kind: 'bool', card: 'one' },
  of,
});
const kinds: readonly ScalarName[] = ['int', 'int', 'text', 'text', 'date', 'bool', 'float'];
const orders: readonly CompareOperator[] = ['EQ', 'EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE'];

export function condition(writer: Writer, scope: Scope, depth: number): Part {
  const { random } = writer;
  if (depth > 0 && random.chance(0.25)) return junction(writer, scope, depth - 1);
  if (depth > 0 && random.chance(0.55)) return reaching(writer, scope, depth - 1);
  return comparison(writer, scope, depth);
}

function junction(writer: Writer, scope: Scope, depth: number): Part {
  const { random } = writer;
  const [a, b] = [writer.condition(scope, depth), writer.condition(scope, depth)];
  return random.pick([
    () => bool(`AND(${a.text}, ${b.text})`, (env) => isTrue(a.of(env)) && isTrue(b.of(env))),
    () => bool(`OR(${a.text}, ${b.text})`, (env) => isTrue(a.of(env)) || isTrue(b.of(env))),
    () => bool(`!${a.text}`, (env) => !isTrue(a.of(env))),
  ])();
}

function comparison(writer: Writer, scope: Scope, depth: number): Part {
  const { random } = writer;
  const kind = random.pick(kinds);
  const deep = depth > 0 && random.chance(0.3);
  const left =
    deep && kind !== 'bool' ? notLiteral(writer, scope, kind, depth) : named(writer, scope, kind);
  if (kind === 'bool' && random.chance(0.5)) return left;
  if (random.chance(0.15)) {
    const operator = random.pick(['EQ', 'NEQ'] as const);
    return bool(
      `${left.text}::${operator}(NONE)`,
      (env) => (left.of(env) === null) === (operator === 'EQ'),
    );
  }
  if (kind === 'text' && random.chance(0.3)) {
    const operator = random.pick(['STARTS_WITH', 'ENDS_WITH', 'CONTAINS'] as const);
    const right = writer.scalar(scope, 'text', 0);
    return bool(`${left.text}::${operator}(${right.text})`, (env) =>
      compares(operator, left.of(env), right.of(env)),
    );
  }
  if (kind !== 'bool' && random.chance(0.2)) return membership(writer, scope, kind, left);
  const operator = random.pick(kind === 'bool' ? (['EQ', 'NEQ'] as const) : orders);
  const right = writer.scalar(scope, kind, deep ? depth - 1 : 0);
  return bool(`${left.text}::${operator}(${right.text})`, (env) =>
    compares(operator, left.of(env), right.of(env)),
  );
}

/** A call or a chain: comparisons are steps, which no literal has. */
function notLiteral(writer: Writer, scope: Scope, kind: ScalarName, depth: number): Part {
  for (let i = 0; i < 4; i++) {
    const part = writer.scalar(scope, kind, depth);
    if (/^[A-Z_a-z]/.test(part.text) && !/^(true|false|NOW)$/.test(part.text)) return part;
  }
  return named(writer, scope, kind);
}

function membership(writer: Writer, scope: Scope, kind: ScalarName, left: Part): Part {
  const { random } = writer;
  const items = Array.from({ length: 1 + random.below(3) }, () =>
    // A text among dates is no date.
    random.chance(0.7) || kind === 'date' ? literal(writer, kind) : named(writer, scope, kind),
  );
  const text = items.map((item) => item.text).join(', ');
  return bool(`${left.text}::IS_IN([${text}])`, (env) =>
    compares(
      'IS_IN',
      left.of(env),
      items.map((item) => item.of(env)),
    ),
  );
}

/** Conditions on what is reached from the item, or on any other stream. */
function reaching(writer: Writer, scope: Scope, depth: number): Part {
  const { random } = writer;
  const list = writer.elements(scope, depth);
  return random.pick([
    () => bool(`EXISTS(${list.text})`, (env) => rowsOf(existing(list, env)).length > 0),
    () => ofProperty(writer, scope, list, depth),
    () => ofProperty(writer, scope, list, depth),
    () => contains(writer, scope, list, depth),
    () => amongIds(writer, scope, list),
    () => isThere(writer, scope, depth),
  ])();
}

function existing(list: Part, env: Env): Value {
  try {
    return list.of({ ...env, lenient: true });
  } catch (error) {
    if (/^NO_(VALUE_FOUND|PATH)$/.test(String((error as { code?: string }).code))) return null;
    throw error;
  }
}

function ofProperty(writer: Writer, scope: Scope, list: Elements, depth: number): Part {
  const { random } = writer;
  const properties = [...propertiesOf(list.type.labels)].filter(([, kind]) => kind !== 'bool');
  if (properties.length === 0 || list.type.shape)
    return bool(`EXISTS(${list.text})`, (env) => rowsOf(existing(list, env)).length > 0);
  const [name, kind] = random.pick(properties);
  const operator = random.pick(orders);
  const right = writer.scalar(scope, kind, depth > 0 ? 1 : 0);
  return bool(`${list.text}::{${name}}::${operator}(${right.text})`, (env) => {
    const [value, b] = [list.of(env), right.of(env)];
    // A single one that is not there has null for every property.
    const rows = list.type.card === 'many' ? rowsOf(value) : [value];
    return rows.some((row) => compares(operator, member(row, name), b));
  });
}

/** One of the elements is that one. */
function contains(writer: Writer, scope: Scope, list: Elements, depth: number): Part {
  const single = writer.single(scope, depth);
  if (list.type.card !== 'many')
    return bool(`${list.text}::EQ(${single.text})`, (env) => {
      const [a, b] = [list.of(env), single.of(env)];
      return a === null || b === null ? a === b : same(a, b);
    });
  return bool(`${list.text}::CONTAINS(${single.text})`, (env) => {
    const [value, wanted] = [list.of(env), single.of(env)];
    return wanted !== null && rowsOf(value).some((row) => row !== null && same(row, wanted));
  });
}

function amongIds(writer: Writer, scope: Scope, list: Elements): Part {
  const { item } = scope;
  if (item?.kind !== 'element' || list.type.card !== 'many')
    return contains(writer, scope, list, 0);
  const suffix = writer.random.chance(0.5) ? '::ID' : '';
  return bool(`${scope.itemName ?? '_'}::ID::IS_IN(${list.text}${suffix})`, (env) => {
    const own = env.item;
    if (!(own instanceof Item)) return false;
    return rowsOf(list.of(env)).some((row) => row instanceof Item && row.element === own.element);
  });
}

/** `EQ(NONE)` of an element that may be missing. */
function isThere(writer: Writer, scope: Scope, depth: number): Part {
  const single = writer.single(scope, depth);
  const operator = writer.random.pick(['EQ', 'NEQ'] as const);
  return bool(
    `${single.text}::${operator}(NONE)`,
    (env) => (single.of(env) === null) === (operator === 'EQ'),
  );
}
