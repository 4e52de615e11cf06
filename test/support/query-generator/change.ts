// What sentences change: elements created, updated, made unless they are there, deleted, also in loops;
// each written together with what it does to the graph.
import { Item, rowsOf, type Value } from '../oracle/oracle-value.js';
import { elementsIn } from '../oracle/oracle-write.js';
import { take } from '../oracle/oracle-step.js';
import { assignments } from './assignment.js';
import { edgeBetween, edgesAt, vectorOf } from './edge.js';
import { withVar } from './meaning.js';
import type { Change, Elements, Env, Part, Scope, Writer } from './part.js';
import { piece, runOf } from './run.js';
import { literal, parameter, scalar } from './scalar.js';
import { ofLabels } from './stream.js';
import type { Type } from './type.js';
import { letter } from './fixture.js';

function change(writer: Writer, scope: Scope, depth: number): Change {
  const { random } = writer;
  const less = Math.max(0, depth - 1);
  return random.pick([
    () => created(writer, scope, depth),
    () => created(writer, scope, depth),
    () => edgeBetween(writer, scope, 'AddE', depth),
    () => edgeBetween(writer, scope, 'UpsertE', depth),
    () => edgeBetween(writer, scope, 'UpsertE', depth),
    () => edgesAt(writer, scope, depth),
    () => updated(writer, scope, depth),
    () => updated(writer, scope, depth),
    () => updated(writer, scope, depth),
    () => upserted(writer, scope, depth),
    () => upserted(writer, scope, depth),
    () => dropped(writer, scope, depth),
    () => dropped(writer, scope, depth),
    () => looped(writer, scope, less),
    () => looped(writer, scope, less),
    () => replaced(writer, scope, less),
  ])();
}

function created(writer: Writer, scope: Scope, depth: number): Change {
  const label = writer.random.pick(['Ant', 'Ant', 'Bee', 'Cue']);
  const set = assignments(writer, scope, label, depth);
  const type = { kind: 'element', card: 'one', labels: [label] } as const;
  if (label !== 'Cue')
    return {
      text: `AddN<${label}>(${set.text})`,
      type,
      of: (env) => take(runOf(env), { kind: 'upsertNode', type: label, ...set.of(env) }, [])[0]!,
    };
  const [text, vector] = vectorOf(writer);
  return {
    text: `AddV<Cue>(${text}, ${set.text})`,
    type,
    of: (env) =>
      take(
        runOf(env),
        { kind: 'upsertVector', type: label, ...set.of(env), vector: piece(() => vector) },
        [],
      )[0]!,
  };
}

function updated(writer: Writer, scope: Scope, depth: number): Change {
  const list = writer.elements(scope, depth);
  const { type } = list;
  const label = writer.random.pick(type.labels);
  const inner: Scope = { names: scope.names, item: { ...type, card: 'one' } };
  const set = assignments(writer, inner, label, depth);
  const { shape: _, ...bare } = type;
  return {
    text: `${list.text}::UPDATE(${set.text})`,
    type: bare,
    of: (env) => {
      const run = runOf(env);
      const rows = take(run, { kind: 'update', ...set.of(env, run) }, rowsOf(list.of(env)));
      return type.card === 'many' ? rows : (rows[0] ?? null);
    },
  };
}

/** What is there is updated, else it is made. */
function upserted(writer: Writer, scope: Scope, depth: number): Change {
  const { random } = writer;
  const label = random.pick(['Ant', 'Bee', 'Cue']);
  const from = maybe(writer, scope, label, depth);
  const item = { kind: 'element', card: 'opt', labels: [label] } as const;
  const inner: Scope = random.chance(0.5) ? { names: scope.names, item } : scope;
  const set = assignments(writer, inner, label, depth);
  const type = { kind: 'element', card: 'one', labels: [label] } as const;
  if (label !== 'Cue')
    return {
      text: `${from.text}::UpsertN(${set.text})`,
      type,
      of: (env) => {
        const run = runOf(env);
        const rows = rowsOf(from.of(env));
        return take(run, { kind: 'upsertNode', type: label, ...set.of(env, run) }, rows)[0]!;
      },
    };
  const [text, vector] = vectorOf(writer);
  return {
    text: `${from.text}::UpsertV(${text}, ${set.text})`,
    type,
    of: (env) => {
      const run = runOf(env);
      const step = {
        kind: 'upsertVector',
        type: label,
        ...set.of(env, run),
        vector: piece(() => vector),
      };
      return take(run, step as never, rowsOf(from.of(env)))[0]!;
    },
  };
}

/** Elements of one type that may be missing without a failure. */
function maybe(writer: Writer, scope: Scope, label: string, depth: number): Elements {
  const { random } = writer;
  const type = { kind: 'element', card: 'many', labels: [label] } as const;
  const held = scope.names.filter(
    ({ type: of }) => of.kind === 'element' && of.labels.join() === label && of.card === 'many',
  );
  if (held.length > 0 && random.chance(0.4)) {
    const { name, type: of } = random.pick(held);
    return { text: name, type: of as Elements['type'], of: ({ vars }) => vars.get(name)! };
  }
  if (label !== 'Cue' && random.chance(0.5)) {
    const key = `${label[0]!.toLowerCase()}${random.pick([0, 1, 2, 77, 78])}`;
    return {
      text: `N<${label}>({key: "${key}"})`,
      type,
      of: (env) =>
        ofLabels(env, [label])
          .filter((element) => element.values.get('key') === key)
          .map((element) => new Item(element)),
    };
  }
  const inner: Scope = { names: scope.names, item: { ...type, card: 'one' } };
  const test = writer.condition(inner, Math.min(depth, 1));
  return {
    text: `${letter(label)}<${label}>::WHERE(${test.text})`,
    type,
    of: (env) =>
      ofLabels(env, [label])
        .map((element) => new Item(element))
        .filter((item) => test.of({ ...env, item }) === true),
  };
}

function dropped(writer: Writer, scope: Scope, depth: number): Change {
  const list = writer.random.chance(0.7)
    ? writer.elements(scope, depth)
    : writer.single(scope, depth);
  // Not all there is.
  const few = writer.random.chance(0.8) ? '::RANGE(0, 2)' : '';
  return {
    text: `DROP ${list.text}${few}`,
    type: { kind: 'int', card: 'one' },
    of: (env) => {
      const rows = rowsOf(foundIn(list, env));
      const gone = new Set(elementsIn(few ? rows.slice(0, 2) : rows).filter(({ alive }) => alive));
      for (const element of gone) env.graph.remove(element);
      return gone.size;
    },
  };
}

/** What is missing in the operand of DROP is nothing. */
function foundIn(list: Part, env: Env): Value {
  try {
    return list.of({ ...env, lenient: true });
  } catch (error) {
    if (/^NO_(VALUE_FOUND|PATH)$/.test(String((error as { code?: string }).code))) return null;
    throw error;
  }
}

/** Some changes for each of a few elements, or values. */
function looped(writer: Writer, scope: Scope, depth: number): Change {
  const { random } = writer;
  const name = writer.name('x');
  const [list, type] = ((): [Part, Type] => {
    if (random.chance(0.3)) {
      const kind = random.pick(['int', 'text'] as const);
      const items = [0, 1].map(() => scalarFor(writer, kind));
      const text = `[${items.map((item) => item.text).join(', ')}]`;
      const of = (env: Env) => items.map((item) => item.of(env));
      return [
        { text, type: { kind, card: 'many' }, of },
        { kind, card: 'opt' },
      ];
    }
    const found = writer.elements(scope, depth);
    const of = (env: Env) => rowsOf(found.of(env)).slice(0, 3);
    const { shape: _, ...bare } = found.type;
    if (found.type.shape)
      return [
        {
          text: `N<Ant>::RANGE(0, 2)`,
          type: bare,
          of: (env) =>
            ofLabels(env, ['Ant'])
              .slice(0, 2)
              .map((element) => new Item(element)),
        },
        { kind: 'element', card: 'one', labels: ['Ant'] },
      ];
    return [
      { text: `${found.text}::RANGE(0, 3)`, type: bare, of },
      { ...bare, card: 'one' },
    ];
  })();
  const inner: Scope = { names: [...scope.names, { name, type }] };
  const body = statements(writer, inner, depth, 1 + random.below(2));
  return {
    text: `FOR ${name} IN ${list.text} {\n    ${body.lines.join('\n    ')}\n  }`,
    of: (env) => {
      for (const item of rowsOf(list.of(env))) body.run(withVar(env, name, item));
      return null;
    },
  };
}

const scalarFor = (writer: Writer, kind: 'int' | 'text'): Part =>
  writer.random.chance(0.5) ? literal(writer, kind) : parameter(writer, kind, true);

/** Deletes all neighbors of an element, and creates them again. */
function replaced(writer: Writer, scope: Scope, depth: number): Change {
  const { random } = writer;
  const parent = `b${random.below(3)}`;
  const [name, gone, child, text] = ['y', 'n', 'z', 't'].map((prefix) => writer.name(prefix));
  const items = Array.from({ length: 1 + random.below(2) }, () =>
    scalar(writer, scope, 'text', depth),
  );
  const [vector, meant] = vectorOf(writer);
  return {
    text: [
      `${name} <- N<Bee>::WHERE(_::{key}::EQ("${parent}"))`,
      `  ${gone} <- DROP ${name}::Out<Tells>`,
      `  FOR ${text} IN [${items.map((item) => item.text).join(', ')}] {`,
      `    ${child} <- AddV<Cue>(${vector}, {name: ${text}})`,
      `    UpsertE<Tells>::From(${name})::To(${child})`,
      '  }',
    ].join('\n'),
    of: (env) => {
      const { graph } = env;
      const found = ofLabels(env, ['Bee']).filter((bee) => bee.values.get('key') === parent);
      for (const bee of found)
        for (const edge of graph.edges(bee, ['Tells'], 'from'))
          if (edge.alive) graph.remove(edge.to!);
      const [cue, tells] = [graph.schema.vectors[0]!, graph.schema.edges.find(isTells)!];
      for (const value of items.map((item) => item.of(env))) {
        const values = new Map(value === null ? [] : [['name', value]]);
        const made = graph.create(cue, values, { vector: meant });
        for (const bee of found) graph.create(tells, new Map(), { from: bee, to: made });
      }
      return null;
    },
  };
}

const isTells = ({ name }: { name: string }): boolean => name === 'Tells';

interface Statements {
  lines: string[];
  scope: Scope;
  /** Performs them; what they have bound is in what it returns. */
  run(env: Env): Env;
  names: string[];
}

/** Changes one after the other, some bound to names, which the later ones may use. */
export function statements(writer: Writer, outer: Scope, depth: number, count: number): Statements {
  const lines: string[] = [];
  const names: string[] = [];
  const steps: ((env: Env) => Env)[] = [];
  let scope = outer;
  for (let i = 0; i < count; i++) {
    const made = change(writer, scope, depth);
    const own = made.type && writer.random.chance(0.6) ? writer.name('v') : undefined;
    lines.push(own === undefined ? made.text : `${own} <- ${made.text}`);
    steps.push((env) => {
      const value = made.of(env);
      return own === undefined ? env : withVar(env, own, value);
    });
    if (own === undefined) continue;
    names.push(own);
    scope = { ...scope, names: [...scope.names, { name: own, type: made.type! }] };
  }
  return { lines, scope, names, run: (env) => steps.reduce((inner, step) => step(inner), env) };
}
