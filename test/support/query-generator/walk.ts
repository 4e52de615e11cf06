// Walks of the sentences: steps along edges either way, with conditions, repeated, and ends of edges.
import { type Value, rowsOf } from '../oracle/oracle-value.js';
import type { Elements, Env, Part, Scope, Writer } from './part.js';
import { perItem, piece, stepOf } from './run.js';
import { bound } from './scalar.js';
import { itemScope, stream } from './stream.js';
import { labels, letter } from './fixture.js';

const edgeLabels = Object.keys(labels).filter((name) => labels[name]!.kind === 'edge');

/** A step along edges from elements of these types; undefined where none leads anywhere. */
export function walkFrom(
  writer: Writer,
  scope: Scope,
  from: Elements,
  depth: number,
): Elements | undefined {
  const { random } = writer;
  const { type } = from;
  if (type.labels.every((label) => labels[label]!.kind === 'edge')) return endOf(writer, from);
  const ways = edgeLabels.flatMap((name) =>
    (['out', 'in', 'both'] as const).map((direction) => ({ names: [name], direction })),
  );
  const fitting = ways.filter((way) => far(type.labels, way).length > 0);
  if (fitting.length === 0) return undefined;
  const way = random.pick(fitting);
  if (random.chance(0.15)) {
    const other = random.pick(fitting.filter(({ direction }) => direction === way.direction));
    if (!way.names.includes(other.names[0]!)) way.names.push(...other.names);
  }
  const test = random.chance(0.3)
    ? writer.condition(
        itemScope(scope, way.names, { reached: far(type.labels, way) }),
        Math.min(depth, 1),
      )
    : undefined;
  const word = { out: 'Out', in: 'In', both: 'Both' }[way.direction];
  const step = (suffix: string, hops: string) =>
    `${from.text}::${word}${suffix}<${way.names.join(', ')}>${test ? `(${test.text})` : ''}${hops}`;
  const edges = { kind: 'expand' as const, direction: way.direction, edges: way.names };
  if (random.chance(0.25)) {
    const reached = far(type.labels, way);
    return stream(
      step('E', ''),
      { labels: way.names, card: 'many', reached },
      stepOf(from.of, (run, env) => ({
        ...edges,
        take: 'edge',
        ...(test && { condition: perItem(run, env, test) }),
      })),
    );
  }
  const bounds = random.chance(0.55) ? hopsOf(writer) : undefined;
  const found = bounds ? within(type.labels, way, bounds) : far(type.labels, way);
  if (found.length === 0) return undefined;
  return stream(
    step('', bounds?.text ?? ''),
    { labels: found, card: 'many', ...(bounds && { hops: true as const }) },
    stepOf(from.of, (run, env) => ({
      ...edges,
      take: 'far',
      ...(test && { condition: perItem(run, env, test) }),
      ...(bounds && {
        hops: {
          min: bounds.min,
          max: bounds.max === null ? null : piece(() => bounds.param?.of(env) ?? bounds.max),
        },
      }),
    })),
  );
}

interface Bounds {
  text: string;
  min: number;
  max: number | null;
  /** The bound is that of the call. */
  param?: Part;
}

function hopsOf(writer: Writer): Bounds {
  const { random } = writer;
  if (random.chance(0.15)) {
    const param = bound(writer);
    const min = random.below(3);
    return { text: `{${min}, ${param.text}}`, min, max: 9, param };
  }
  const [text, min, max] = random.pick([
    ['{1, 2}', 1, 2],
    ['{1, 3}', 1, 3],
    ['{0, 2}', 0, 2],
    ['{2}', 2, 2],
    ['{1}', 1, 1],
    ['{0}', 0, 0],
    ['{1, *}', 1, null],
    ['{0, *}', 0, null],
    ['{2, *}', 2, null],
  ] as const);
  return { text, min, max };
}

interface Way {
  names: readonly string[];
  direction: 'out' | 'in' | 'both';
}

/** Types that one round of a walk may lead to. */
function far(from: readonly string[], { names, direction }: Way): string[] {
  const found = new Set<string>();
  for (const name of names) {
    const edge = labels[name]!;
    if (direction !== 'in' && from.includes(edge.from!)) found.add(edge.to!);
    if (direction !== 'out' && from.includes(edge.to!)) found.add(edge.from!);
  }
  return [...found];
}

function within(from: readonly string[], way: Way, { min, max }: Bounds): string[] {
  const starts = from.filter((label) => labels[label]!.kind !== 'edge');
  const found = new Set<string>(min === 0 ? starts : []);
  let last = [...from];
  for (let round = 1; round <= (max ?? 9); round++) {
    last = far(last, way);
    if (round >= min) for (const label of last) found.add(label);
  }
  return [...found];
}

/** The ends of edges. */
function endOf(writer: Writer, from: Elements): Elements {
  const { random } = writer;
  const { labels: of, reached, card } = from.type;
  if (reached && random.chance(0.7))
    return stream(
      `${from.text}::Other`,
      { labels: reached, card },
      asSingle(
        card,
        stepOf(from.of, () => ({ kind: 'end', end: 'other' })),
      ),
    );
  const end = random.pick(['from', 'to'] as const);
  const found = [...new Set(of.map((name) => labels[name]![end]!))];
  const kinds = new Set(found.map((label) => labels[label]!.kind));
  if (kinds.size > 1)
    return stream(`${from.text}::RANGE(0, 9)`, { ...from.type, card: 'many' }, (env) =>
      rowsOf(from.of(env)).slice(0, 9),
    );
  const word = `${end === 'from' ? 'From' : 'To'}${letter(found[0]!)}`;
  return stream(
    `${from.text}::${word}`,
    { labels: found, card },
    asSingle(
      card,
      stepOf(from.of, () => ({ kind: 'end', end })),
    ),
  );
}

export const asSingle = (card: string, of: (env: Env) => readonly Value[]): Elements['of'] =>
  card === 'many' ? of : (env) => of(env)[0] ?? null;
