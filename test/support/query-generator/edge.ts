// Edges that sentences make: between ends of every form, from every item of a stream, or the oldest one
// updated instead.
import { createEdges, upsertEdges } from '../oracle/oracle-write.js';
import { take } from '../oracle/oracle-step.js';
import { Item, rowsOf, type Value } from '../oracle/oracle-value.js';
import { assignments } from './assignment.js';
import type { Change, Elements, Env, Scope, Writer } from './part.js';
import { piece, runOf } from './run.js';
import { many, ofLabels } from './stream.js';
import { parameter } from './scalar.js';
import { labels, letter } from './fixture.js';

const names = ['Knows', 'Knows', 'Holds', 'Tells', 'Cites', 'Back', 'Bears', 'Bears'];

/** A vector as it is written, and its value. */
export function vectorOf({ random }: Writer): [text: string, value: readonly number[]] {
  const [text, value] = random.pick([
    ['[1.0, 0.0]', [1, 0]],
    ['[0.6, 0.8]', [0.6, 0.8]],
    ['[-1.0, 0.5]', [-1, 0.5]],
  ] as const);
  return [text, value];
}

interface End {
  text: string;
  many: boolean;
  of(env: Env): Value;
}

/** An end of this type: an id, one element, a few. */
function endOf(writer: Writer, scope: Scope, label: string, depth: number): End {
  const { random } = writer;
  if (labels[label]!.kind === 'node' && random.chance(0.2)) {
    const id = parameter(writer, 'id', true);
    return { text: id.text, many: false, of: id.of };
  }
  const isFitting = (found: Elements) =>
    found.type.labels.every((each) => each === label) ||
    (found.type.labels.includes(label) && random.chance(0.1));
  for (let i = 0; i < 6; i++) {
    const isOne = random.chance(0.6);
    const found = isOne ? writer.single(scope, depth) : writer.elements(scope, depth);
    if (!isFitting(found)) continue;
    if (found.type.card !== 'many') return { text: found.text, many: false, of: found.of };
    const text = `${found.text}::RANGE(0, 2)`;
    return { text, many: true, of: (env) => rowsOf(found.of(env)).slice(0, 2) };
  }
  return {
    text: `${letter(label)}<${label}>::FIRST`,
    many: false,
    of: (env) => {
      const [first] = ofLabels(env, [label]);
      return first ? new Item(first) : null;
    },
  };
}

export function edgeBetween(
  writer: Writer,
  scope: Scope,
  word: 'AddE' | 'UpsertE',
  depth: number,
): Change {
  const name = writer.random.pick(names);
  const { from, to } = labels[name]!;
  const less = Math.max(0, depth - 1);
  const ends = [endOf(writer, scope, from!, less), endOf(writer, scope, to!, less)] as const;
  const item = { kind: 'element', card: 'opt', labels: [name] } as const;
  const inner: Scope =
    word === 'UpsertE' && writer.random.chance(0.5) ? { names: scope.names, item } : scope;
  const set = assignments(writer, inner, name, less);
  const [a, b] = ends;
  return {
    text: `${word}<${name}>(${set.text})::From(${a.text})::To(${b.text})`,
    type: { kind: 'element', card: a.many || b.many ? 'many' : 'one', labels: [name] },
    of: (env) => {
      const run = runOf(env);
      const [start, end] = ends.map((each) => ({
        value: piece(() => each.of(env)),
        many: each.many,
      }));
      const given = set.of(env, run);
      if (word === 'AddE') return createEdges(run, name, given.set, { from: start!, to: end! });
      return upsertEdges(run, { type: name, ...given, from: start!, to: end! });
    },
  };
}

/** One edge for each of some elements, the other end given. */
export function edgesAt(writer: Writer, scope: Scope, depth: number): Change {
  const { random } = writer;
  const name = random.pick(names);
  const edge = labels[name]!;
  const near = random.pick(['from', 'to'] as const);
  const less = Math.max(0, depth - 1);
  const rows = startOf(writer, scope, edge[near]!, less);
  const end = endOf(writer, scope, edge[near === 'from' ? 'to' : 'from']!, 0);
  const set = assignments(writer, scope, name, less);
  return {
    text: `${rows.text}::AddE<${name}>(${set.text})::${near === 'from' ? 'To' : 'From'}(${end.text}${end.many ? '::FIRST' : ''})`,
    type: { kind: 'element', card: 'many', labels: [name] },
    of: (env) => {
      const run = runOf(env);
      const other = piece(() => (end.many ? (rowsOf(end.of(env))[0] ?? null) : end.of(env)));
      return take(
        run,
        {
          kind: 'addEdge',
          type: name,
          ...set.of(env, run),
          ...(near === 'from' ? { to: other } : { from: other }),
        },
        rowsOf(rows.of(env)).slice(0, 3),
      );
    },
  };
}

function startOf(writer: Writer, scope: Scope, label: string, depth: number): Elements {
  for (let i = 0; i < 6; i++) {
    const found = many(writer.elements(scope, depth));
    if (found.type.labels.every((each) => each === label) && !found.type.shape)
      return { ...found, text: `${found.text}::RANGE(0, 3)` };
  }
  return {
    text: `${letter(label)}<${label}>::RANGE(0, 3)`,
    type: { kind: 'element', card: 'many', labels: [label] },
    of: (env) => ofLabels(env, [label]).map((element) => new Item(element)),
  };
}
