// Whole queries of the sentences: names bound one after the other, and what is answered.
import { shortestPath } from '../oracle/oracle-path.js';
import { aggregate } from '../oracle/oracle-math.js';
import { distinct } from '../oracle/oracle-compare.js';
import { take } from '../oracle/oracle-step.js';
import { Item, Rec, rowsOf, type Value } from '../oracle/oracle-value.js';
import { Random } from '../random.js';
import { member, withVar } from './meaning.js';
import type { Elements, Env, Parameter, Part, Scope, Writer } from './part.js';
import { perItem, piece, runOf } from './run.js';
import { statements } from './change.js';
import type { ScalarName } from './type.js';
import { condition } from './condition.js';
import { furtherStep, singleElement, sorting, source } from './elements.js';
import { itemScope } from './stream.js';
import { named, scalar } from './scalar.js';
import { grouped, projected } from './shape.js';
import { propertiesOf } from './fixture.js';

class SentenceWriter implements Writer {
  readonly parameters: Parameter[] = [];
  #names = 0;

  constructor(readonly random: Random) {}

  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  scalar(scope: Scope, kind: ScalarName, depth: number): Part {
    return scalar(this, scope, kind, depth);
  }

  condition(scope: Scope, depth: number): Part {
    return condition(this, scope, depth);
  }

  elements(scope: Scope, depth: number): Elements {
    let stream = source(this, scope, depth);
    for (let i = this.random.below(2 + depth); i > 0; i--)
      stream = furtherStep(this, scope, stream, Math.max(0, depth - 1));
    return stream;
  }

  single(scope: Scope, depth: number): Elements {
    return singleElement(this, scope, depth);
  }

  /** What may be printed: a stream, shaped, grouped, counted, a page of it, single values. */
  answer(scope: Scope, depth: number): Part {
    const { random } = this;
    const less = Math.max(0, depth - 1);
    const stream = () => this.elements(scope, depth);
    return random.pick([
      () => stream(),
      () => projected(this, scope, stream(), less),
      () => projected(this, scope, stream(), less),
      () => further(this, scope, projected(this, scope, stream(), less), less),
      () => grouped(this, scope, stream(), less),
      () => grouped(this, scope, projected(this, scope, stream(), less), less),
      () => paged(this, scope, stream(), less),
      () => values(this, scope, depth),
      () => pathLength(this, scope, depth),
      () => (random.chance(0.3) ? aligned(this) : projected(this, scope, stream(), less)),
      () => this.scalar(scope, random.pick(['int', 'text', 'bool']), depth + 1),
      () => named(this, scope, 'date'),
      () => written(this, scope, depth),
    ])();
  }
}

/** Steps behind a projection. */
function further(writer: SentenceWriter, scope: Scope, from: Elements, depth: number): Part {
  let stream = from;
  for (let i = 1 + writer.random.below(3); i > 0; i--)
    stream = furtherStep(writer, scope, stream, depth);
  return writer.random.chance(0.3) ? projected(writer, scope, stream, depth) : stream;
}

/** A page, and whether more follow: the first, or with a cursor each of them. */
function paged(writer: SentenceWriter, scope: Scope, from: Elements, depth: number): Part {
  const { random } = writer;
  if (from.type.card !== 'many' || from.type.score || from.type.reached) return from;
  const inner: Scope = { names: scope.names, item: { ...from.type, card: 'one' } };
  // An order that stands before would be that of the pages.
  const isOpen = from.text.includes('ORDER<') || random.chance(0.7);
  const order = isOpen ? sorting(writer, inner, depth) : undefined;
  const ordered: Elements = { ...from, text: order ? `${from.text}::${order.text}` : from.text };
  const shaped = random.chance(0.5) ? projected(writer, scope, ordered, depth) : ordered;
  const n = random.pick([1, 2, 5, 99]);
  const after = random.chance(0.5) ? writer.name('p') : undefined;
  if (after !== undefined)
    writer.parameters.push({ name: after, type: 'String', optional: true, values: [], cursor: n });
  return {
    text: `${shaped.text}::PAGE(${n}${after === undefined ? '' : `, ${after}`})`,
    type: { kind: 'record', card: 'one', members: [] },
    of: (env) => {
      const run = runOf(env);
      const keys = (order?.keys ?? []).map((key) => ({
        ...key,
        value: perItem(run, env, key).value,
      }));
      const before = Number((after === undefined ? undefined : env.params.get(after)) ?? 0);
      const [page] = take(
        run,
        { kind: 'page', slot: 0, keys, order: '', count: piece(() => before + n), after: null },
        rowsOf(from.of(env)),
      );
      if (shaped === ordered && before === 0) return page!;
      const rows = rowsOf(member(page!, 'items')).slice(before);
      const show = { ...env, vars: new Map([...env.vars]) };
      const items =
        shaped === ordered ? rows : rows.map((row) => shapedRow(shaped, ordered, row, show));
      return Object.assign(Object.create(Object.getPrototypeOf(page!) as object) as object, {
        entries: [
          ['items', items],
          ['next', member(page!, 'next')],
        ],
      }) as Value;
    },
  };
}

/** The shape of one row, by the projection of a stream of it alone. */
function shapedRow(shaped: Elements, from: Elements, row: Value, env: Env): Value {
  const kept = from.of;
  from.of = () => [row];
  try {
    return rowsOf(shaped.of(env))[0]!;
  } finally {
    from.of = kept;
  }
}

/** Ids of elements at the places of what names them; null for what names none. */
function aligned(writer: SentenceWriter): Part {
  const { random } = writer;
  const label = random.pick(['Ant', 'Bee']);
  const keys = Array.from({ length: 1 + random.below(3) }, () => {
    return `${label[0]!.toLowerCase()}${random.pick([0, 1, 2, 77])}`;
  });
  const written = keys.map((key) => JSON.stringify(key)).join(', ');
  return {
    text: `N<${label}>({key: [${written}]}, nulls: true)::ID`,
    type: { kind: 'id', card: 'many' },
    of: ({ graph }) =>
      keys.map((key) => {
        const found = graph.elements.find(({ alive, type, values }) => {
          return alive && type.name === label && values.get('key') === key;
        });
        return found ? member(new Item(found), 'id') : null;
      }),
  };
}

/** Lists of single values: of properties, ids, sets of them, what they add up to. */
function values(writer: SentenceWriter, scope: Scope, depth: number): Part {
  const { random } = writer;
  const kind = random.pick(['int', 'text'] as const);
  const list = (): Part => {
    const from = writer.elements(scope, depth);
    const names = [...propertiesOf(from.type.labels)].filter(([, of]) => of === kind);
    if (from.type.card !== 'many' || names.length === 0) {
      const [a, b] = [writer.scalar(scope, kind, 0), writer.scalar(scope, kind, 0)];
      return {
        text: `[${a.text}, ${b.text}]`,
        type: { kind, card: 'many' },
        of: (env) => [a.of(env), b.of(env)],
      };
    }
    const [name] = random.pick(names);
    return {
      text: `${from.text}::{${name}}`,
      type: { kind, card: 'many' },
      of: (env) => rowsOf(from.of(env)).map((row) => member(row, name)),
    };
  };
  const two = [list(), list()];
  const type = { kind, card: 'many' } as const;
  const plain = (part: Part, env: Env): readonly Value[] => rowsOf(part.of(env));
  return random.pick([
    (): Part => ({
      text: `UNION(${two.map(({ text }) => text).join(', ')})`,
      type,
      of: (env) => distinct(two.flatMap((part) => plain(part, env))),
    }),
    (): Part => ({
      text: `EXCEPT(${two.map(({ text }) => text).join(', ')})`,
      type,
      of: (env) => {
        const [a, b] = two.map((part) => plain(part, env));
        return distinct(a!).filter((value) => !b!.includes(value));
      },
    }),
    (): Part =>
      kind === 'int'
        ? {
            text: `SUM(${two[0]!.text})`,
            type: { kind, card: 'one' },
            of: (env) => aggregate('SUM', true, plain(two[0]!, env)),
          }
        : {
            text: `MAX(${two[0]!.text})`,
            type: { kind, card: 'opt' },
            of: (env) => aggregate('MAX', false, plain(two[0]!, env)),
          },
  ])();
}

/** The length of a path between two elements, or -1. */
function pathLength(writer: SentenceWriter, scope: Scope, depth: number): Part {
  const { random } = writer;
  const ant = (): Elements => {
    for (let i = 0; i < 8; i++) {
      const one = writer.single(scope, Math.min(depth, 1));
      if (one.type.labels.every((label) => label === 'Ant')) return one;
    }
    return {
      text: 'N<Ant>::FIRST',
      type: { kind: 'element', card: 'opt', labels: ['Ant'] },
      of: ({ graph }) => first(graph.elements),
    };
  };
  const [a, b] = [ant(), ant()];
  const test = random.chance(0.4)
    ? writer.condition(itemScope(scope, ['Knows'], { reached: ['Ant'] }), 0)
    : undefined;
  const end = random.pick(['Both', 'Both', 'To', 'From']);
  const form = random.pick(['ShortestPath', 'ShortestPathBFS']);
  return {
    text: `COALESCE(${a.text}::${form}<Knows>${test ? `(${test.text})` : ''}::${end}(${b.text})::{hop_count}, -1)`,
    type: { kind: 'int', card: 'one' },
    of: (outer) => {
      const env: Env = { ...outer, lenient: true };
      try {
        const run = runOf(env);
        const start = a.of(env);
        if (start === null) return -1;
        const [path] = shortestPath(
          run,
          {
            kind: 'shortestPath',
            algorithm: 'bfs',
            edges: ['Knows'],
            reverse: end === 'From',
            ...(end === 'Both' && { both: true as const }),
            target: piece(() => b.of(env)),
            ...(test && { condition: perItem(run, env, test) }),
            one: true,
          },
          [start],
        );
        return path ? path.get('hop_count') : -1;
      } catch (error) {
        if (/^NO_(VALUE_FOUND|PATH)$/.test(String((error as { code?: string }).code))) return -1;
        throw error;
      }
    },
  };
}

const first = (elements: readonly Item['element'][]): Value => {
  const found = elements.find(({ type, alive }) => alive && type.name === 'Ant');
  return found ? new Item(found) : null;
};

/** An object or an array that stands in the source. */
function written(writer: SentenceWriter, scope: Scope, depth: number): Part {
  const parts = [0, 1].map(() => ({
    name: writer.name('o'),
    part: writer.scalar(scope, writer.random.pick(['int', 'text', 'bool']), depth),
  }));
  return {
    text: `{ ${parts.map(({ name, part }) => `${name}: ${part.text}`).join(', ')} }`,
    type: { kind: 'record', card: 'one', members: [] },
    of: (env) => new Rec(parts.map(({ name, part }) => [name, part.of(env)])),
  };
}

/** A one-name shape of one element is printed as a record: as a member of one it is a value. */
function whole(writer: Writer, part: Part): Part {
  const isValue = !/^(element|record)$/.test(part.type.kind) && part.type.card !== 'many';
  if (!isValue || !/(\}|^v\d+)$/.test(part.text)) return part;
  const name = writer.name('o');
  return {
    text: `{ ${name}: ${part.text} }`,
    type: { kind: 'record', card: 'one', members: [] },
    of: (env) => new Rec([[name, part.of(env)]]),
  };
}

export interface Sentence {
  name: string;
  text: string;
  parameters: readonly Parameter[];
  /** Values of its variables, by name, in the order in which they are answered. */
  of(env: Env): [string, Value][];
}

export function sentence(seed: number, name: string, depth: number): Sentence {
  return sentenceOf(seed, name, depth, () => 0);
}

/** A query that changes the graph, and answers what it then holds. */
export function changingSentence(seed: number, name: string, depth: number): Sentence {
  return sentenceOf(seed, name, depth, ({ random }) => 1 + random.below(3));
}

function sentenceOf(
  seed: number,
  name: string,
  depth: number,
  changes: (writer: Writer) => number,
): Sentence {
  const random = new Random(seed);
  const writer = new SentenceWriter(random);
  const lines: string[] = [];
  const steps: ((env: Env) => Env)[] = [];
  const answers: string[] = [];
  let scope: Scope = { names: [] };
  const bind = (prefix: string, part: Part) => {
    const own = writer.name(prefix);
    lines.push(`${own} <- ${part.text}`);
    steps.push((env) => withVar(env, own, part.of(env)));
    return { name: own, type: part.type };
  };
  for (let i = random.below(3); i > 0; i--) {
    const part: Part = random.chance(0.7)
      ? random.chance(0.7)
        ? writer.elements(scope, depth)
        : writer.single(scope, depth)
      : writer.scalar(scope, random.pick(['int', 'text']), depth);
    scope = { names: [...scope.names, bind('v', part)] };
  }
  const count = changes(writer);
  if (count > 0) {
    const made = statements(writer, scope, depth, count);
    lines.push(...made.lines);
    steps.push(made.run);
    ({ scope } = made);
    answers.push(...made.names);
  }
  for (let i = 1 + random.below(2); i > 0; i--)
    answers.push(bind('r', whole(writer, writer.answer(scope, depth))).name);
  const header = writer.parameters
    .map(
      ({ name: own, type, optional, given }) =>
        `${own}${optional ? '?' : ''}: ${type}${given === undefined ? '' : ` = ${given}`}`,
    )
    .join(', ');
  return {
    name,
    text: `QUERY ${name}(${header}) =>\n  ${lines.join('\n  ')}\n  RETURN ${answers.join(', ')}\n`,
    parameters: writer.parameters,
    of: (env) => {
      const { vars } = steps.reduce((inner, step) => step(inner), env);
      return answers.map((own) => [own, vars.get(own)!]);
    },
  };
}
