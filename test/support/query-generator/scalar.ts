// Single values of the sentences: literals, parameters, members of items, functions of texts and
// dates, arithmetic, counts, branches.
import { calculate } from '../oracle/oracle-math.js';
import { callFunction, type FunctionCall } from '../oracle/function/evaluate.js';
import { rowsOf, type Value } from '../oracle/oracle-value.js';
import { isTrue, member } from './meaning.js';
import type { Env, Part, Scope, Writer } from './part.js';
import { piece, runOf } from './run.js';
import type { Members, ScalarName } from './type.js';
import { printed, propertiesOf, read } from './fixture.js';

const typeNames: Record<ScalarName, string> = {
  int: 'I32',
  float: 'F64',
  text: 'String',
  bool: 'Boolean',
  date: 'Date',
  id: 'ID',
};

export function literal(writer: Writer, kind: ScalarName): Part {
  if (kind === 'id') return parameter(writer, kind);
  const text = printed(kind, writer.random);
  const value = read(kind, text);
  return { text, type: { kind, card: 'one' }, of: () => value };
}

/** A parameter, which may be absent, null, or have a default. */
export function parameter(writer: Writer, kind: ScalarName, needed = false): Part {
  const { random } = writer;
  const name = writer.name('p');
  const given = kind !== 'id' && random.chance(0.3) ? printed(kind, random) : undefined;
  const optional = !needed && given === undefined && random.chance(0.3);
  const values = kind === 'id' ? [] : [0, 1].map(() => read(kind, printed(kind, random)));
  writer.parameters.push({
    name,
    type: typeNames[kind],
    optional,
    values,
    ...(given !== undefined && { given }),
  });
  const card = optional ? 'opt' : 'one';
  return { text: name, type: { kind, card }, of: ({ params }) => params.get(name)! };
}

/** A parameter that is a small number from 0 up. */
export function bound(writer: Writer): Part {
  const name = writer.name('p');
  writer.parameters.push({ name, type: 'U8', optional: false, values: [0, 1, 2, 3] });
  return { text: name, type: { kind: 'int', card: 'one' }, of: ({ params }) => params.get(name)! };
}

/** Members of this kind that an item has, by name. */
function membersOf(scope: Scope, kind: ScalarName): string[] {
  const { item } = scope;
  if (item?.kind === 'record') return ofKind(item.members, kind);
  if (item?.kind !== 'element') return [];
  if (item.shape) return ofKind(item.shape, kind);
  const own = [...propertiesOf(item.labels)].filter(([, of]) => of === kind).map(([name]) => name);
  if (kind === 'int' && item.hops) own.push('hops', 'hops');
  if (kind === 'text') own.push('label');
  return kind === 'id' ? ['id'] : own;
}

const ofKind = (members: Members, kind: ScalarName): string[] =>
  members.filter(({ type }) => type.kind === kind && type.card !== 'many').map(({ name }) => name);

function itemMember(writer: Writer, scope: Scope, kind: ScalarName): Part | undefined {
  const names = membersOf(scope, kind);
  if (names.length === 0) return undefined;
  const name = writer.random.pick(names);
  const item = scope.itemName ?? '_';
  return {
    text: `${item}::{${name}}`,
    type: { kind, card: 'opt' },
    of: (env) => member(env.item!, name),
  };
}

function variable(writer: Writer, scope: Scope, kind: ScalarName): Part | undefined {
  const fitting = scope.names.filter(({ type }) => type.kind === kind && type.card !== 'many');
  if (fitting.length === 0) return undefined;
  const { name, type } = writer.random.pick(fitting);
  return { text: name, type, of: ({ vars }) => vars.get(name)! };
}

/** What is not a literal: a comparison may follow it. */
export function named(writer: Writer, scope: Scope, kind: ScalarName): Part {
  const { random } = writer;
  const found = random.chance(0.7) ? itemMember(writer, scope, kind) : undefined;
  const held = random.chance(0.5) ? variable(writer, scope, kind) : undefined;
  return found ?? held ?? itemMember(writer, scope, kind) ?? parameter(writer, kind);
}

export function scalar(writer: Writer, scope: Scope, kind: ScalarName, depth: number): Part {
  const { random } = writer;
  if (depth > 0 && random.chance(0.55)) {
    const made = composed(writer, scope, kind, depth - 1);
    if (made) return made;
  }
  return random.chance(0.35) ? literal(writer, kind) : named(writer, scope, kind);
}

function composed(writer: Writer, scope: Scope, kind: ScalarName, depth: number): Part | undefined {
  const { random } = writer;
  // In a branch with a date, a string is not converted to a date.
  if (kind !== 'date' && random.chance(0.25)) return branch(writer, scope, kind, depth);
  if (random.chance(0.25)) return reached(writer, scope, kind, depth);
  switch (kind) {
    case 'int':
      return integer(writer, scope, depth);
    case 'text':
      return text(writer, scope, depth);
    case 'date':
      return date(writer, scope, depth);
    case 'bool':
      return writer.condition(scope, depth);
    case 'float':
    case 'id':
      return undefined;
  }
}

/** IF and COALESCE of single values. */
function branch(writer: Writer, scope: Scope, kind: ScalarName, depth: number): Part {
  const { random } = writer;
  const one = () => writer.scalar(scope, kind, depth);
  if (random.chance(0.5)) {
    const parts = [named(writer, scope, kind), ...(random.chance(0.3) ? [one()] : []), one()];
    return {
      text: `COALESCE(${parts.map((part) => part.text).join(', ')})`,
      type: { kind, card: 'opt' },
      of: (env) => {
        for (const part of parts) {
          const value = foundOrNull(part, env);
          if (value !== null) return value;
        }
        return null;
      },
    };
  }
  const [test, a, b] = [writer.condition(scope, depth), one(), one()];
  const two = random.chance(0.25);
  return {
    text: `IF(${test.text}, ${a.text}${two ? '' : `, ${b.text}`})`,
    type: { kind, card: 'opt' },
    of: (env) => (isTrue(test.of(env)) ? a.of(env) : two ? null : b.of(env)),
  };
}

/** What is missing inside is null. */
export function foundOrNull(part: Part, env: Env): Value {
  try {
    return part.of({ ...env, lenient: true });
  } catch (error) {
    if (/^NO_(VALUE_FOUND|PATH)$/.test(String((error as { code?: string }).code))) return null;
    throw error;
  }
}

/** A property of one element that is reached, or of the first. */
function reached(writer: Writer, scope: Scope, kind: ScalarName, depth: number): Part | undefined {
  const single = writer.single(scope, depth);
  const names = membersOf({ names: [], item: single.type }, kind);
  if (names.length === 0) return undefined;
  const name = writer.random.pick(names);
  return {
    text: `${single.text}::{${name}}`,
    type: { kind, card: 'opt' },
    of: (env) => member(single.of(env), name),
  };
}

const call = (of: FunctionCall | object, env: Env): Value =>
  callFunction(runOf(env), of as FunctionCall);

function textCall(name: string, parts: readonly Part[], kind: ScalarName): Part {
  return {
    text: `${name}(${parts.map((part) => part.text).join(', ')})`,
    type: { kind, card: 'opt' },
    of: (env) =>
      call(
        { kind: 'text', function: name, of: parts.map((part) => piece(() => part.of(env))) },
        env,
      ),
  };
}

const fixed = (text: string, value: Value, kind: ScalarName = 'text'): Part => ({
  text,
  type: { kind, card: 'one' },
  of: () => value,
});

function text(writer: Writer, scope: Scope, depth: number): Part {
  const { random } = writer;
  const own = () => writer.scalar(scope, 'text', depth);
  const bound = () => {
    const n = random.below(5);
    return fixed(String(n), n, 'int');
  };
  return random.pick([
    () => textCall(random.pick(['LOWER', 'UPPER', 'TRIM']), [own()], 'text'),
    () => textCall('CONCAT', [own(), fixed('"-"', '-'), writer.scalar(scope, 'int', 0)], 'text'),
    () => textCall('CONCAT', [own(), writer.scalar(scope, 'bool', 0)], 'text'),
    () => textCall('SUBSTRING', [own(), bound(), bound()], 'text'),
    () => textCall('SUBSTRING', [own(), bound()], 'text'),
    () => textCall('REPLACE', [own(), fixed('"e"', 'e'), own()], 'text'),
  ])();
}

const units = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'];

function dateCall(name: string, parts: readonly Part[], kind: ScalarName): Part {
  return {
    text: `${name}(${parts.map((part) => part.text).join(', ')})`,
    type: { kind, card: 'opt' },
    of: (env) =>
      call(
        { kind: 'date', function: name, of: parts.map((part) => piece(() => part.of(env))) },
        env,
      ),
  };
}

function unit(writer: Writer): Part {
  const name = writer.random.pick(units);
  return fixed(`"${name}"`, name);
}

function date(writer: Writer, scope: Scope, depth: number): Part {
  const { random } = writer;
  const own = () => named(writer, scope, 'date');
  const count = random.pick([-13, -1, 0, 1, 30]);
  return random.pick([
    () => dateCall('TRUNC', [writer.scalar(scope, 'date', depth), unit(writer)], 'date'),
    () => dateCall('DATE_ADD', [own(), fixed(String(count), count, 'int'), unit(writer)], 'date'),
    (): Part => ({ text: 'NOW', type: { kind: 'date', card: 'one' }, of: ({ now }) => now }),
  ])();
}

function integer(writer: Writer, scope: Scope, depth: number): Part {
  const { random } = writer;
  const own = () => writer.scalar(scope, 'int', depth);
  const arithmetic = (): Part => {
    const name = random.pick(['ADD', 'SUB', 'MIN', 'MAX'] as const);
    const [a, b] = [own(), own()];
    return {
      text: `${name}(${a.text}, ${b.text})`,
      type: { kind: 'int', card: 'opt' },
      of: (env) => {
        const value = a.of(env);
        // Behind what makes the result null nothing is evaluated.
        return value === null ? null : calculate(name, true, [value, b.of(env)]);
      },
    };
  };
  const count = (): Part => {
    const list = writer.elements(scope, depth);
    const outside = random.chance(0.5);
    return {
      text: outside ? `COUNT(${list.text})` : `${list.text}::COUNT`,
      type: { kind: 'int', card: 'one' },
      of: (env) => rowsOf(list.of(env)).length,
    };
  };
  return random.pick([
    arithmetic,
    count,
    count,
    () => textCall('LENGTH', [writer.scalar(scope, 'text', depth)], 'int'),
    () =>
      dateCall(
        random.pick(['YEAR', 'MONTH', 'DAY', 'HOUR']),
        [named(writer, scope, 'date')],
        'int',
      ),
    () =>
      dateCall(
        'DATE_DIFF',
        [named(writer, scope, 'date'), named(writer, scope, 'date'), unit(writer)],
        'int',
      ),
  ])();
}
