// Searches of the sentences, and ranked lists fused.
import type { Source } from '../../../engine/plan/expression.js';
import { fuse, searchText, searchVector } from '../oracle/oracle-search.js';
import { Item, type Value, rowsOf } from '../oracle/oracle-value.js';
import { isTrue, withItem } from './meaning.js';
import type { Elements, Env, Scope, Writer } from './part.js';
import { perItem, piece, runOf, stepOf } from './run.js';
import { bare, itemScope, many, stream, united } from './stream.js';
import { labels } from './fixture.js';

const ends = ['Ant', 'Bee', 'Cue'];
const searchMost = 50;

const vectors: [string, number[]][] = [
  ['[1.0, 0.0]', [1, 0]],
  ['[0.6, 0.8]', [0.6, 0.8]],
];

export function search(writer: Writer, scope: Scope, depth: number, plain = false): Elements {
  const { random } = writer;
  const k = random.pick([1, 2, 3, searchMost]);
  if (random.chance(0.5)) {
    const label = random.pick(['Ant', 'Bee', 'Cue']);
    const words = random.pick(['fern', 'sun rose', 'rose', 'none']);
    const test =
      plain || random.chance(0.6) ? undefined : writer.condition(itemScope(scope, [label]), depth);
    return stream(
      `SearchBM25<${label}>("${words}", ${k})${test ? `::PREFILTER(${test.text})` : ''}`,
      { labels: [label], card: 'many', score: true },
      (env) => {
        const run = runOf(env);
        const type = { kind: labels[label]!.kind, name: label };
        const given = {
          text: piece(() => words),
          k: piece(() => k),
          ...(test && { prefilter: perItem(run, env, test) }),
        };
        return searchText(run, { kind: 'searchText', type, ...given } as Extract<
          Source,
          { kind: 'searchText' }
        >);
      },
    );
  }
  const [text, vector] = random.pick(vectors);
  const test =
    plain || random.chance(0.5) ? undefined : writer.condition(itemScope(scope, ['Cue']), depth);
  const found = stream(
    `SearchV<Cue>(${text}, ${k})${test ? `::PREFILTER(${test.text})` : ''}`,
    { labels: ['Cue'], card: 'many', score: true },
    (env) => {
      const run = runOf(env);
      const given = {
        vector: piece(() => vector),
        k: piece(() => k),
        ...(test && { prefilter: perItem(run, env, test) }),
      };
      return searchVector(run, { kind: 'searchVector', type: 'Cue', ...given } as Extract<
        Source,
        { kind: 'searchVector' }
      >);
    },
  );
  return plain || random.chance(0.7) ? found : diversified(writer, found);
}

function diversified({ random }: Writer, found: Elements): Elements {
  const [lambda, number] = random.pick([
    ['0.5', 0.5],
    ['0.0', 0],
    ['1.0', 1],
  ] as const);
  const metric = random.pick([undefined, 'cosine', 'euclidean'] as const);
  const distance = metric === undefined ? '' : `, distance: "${metric}"`;
  return stream(
    `${found.text}::RerankMMR(lambda: ${lambda}${distance})`,
    found.type,
    stepOf(found.of, () => ({
      kind: 'rerankMMR',
      lambda: piece(() => number),
      distance: metric === undefined ? null : piece(() => metric),
    })),
  );
}

export function fused(writer: Writer, scope: Scope, depth: number): Elements {
  const { random } = writer;
  const shared = random.chance(0.4);
  const count = 1 + random.below(3);
  const lists = Array.from({ length: count }, () =>
    shared
      ? search(writer, scope, depth, true)
      : many(random.chance(0.5) ? search(writer, scope, depth) : writer.elements(scope, depth)),
  );
  const type = united(lists);
  const weights = random.chance(0.4) ? lists.map(() => random.pick([0, 1, 2.5])) : undefined;
  const k = random.pick([undefined, 0, 1, 60]);
  const parts = [
    ...lists.map(({ text }) => text),
    ...(k === undefined ? [] : [`k: ${k}`]),
    ...(weights ? [`weights: [${weights.join(', ')}]`] : []),
  ];
  const test =
    shared && random.chance(0.8)
      ? writer.condition(itemScope(scope, type.labels), depth)
      : undefined;
  const filter = test ? `::PREFILTER(${test.text})` : '';
  return stream(
    `RerankRRF(${parts.join(', ')})${filter}`,
    { ...type, card: 'many', score: true },
    (env) => {
      const run = runOf(env);
      const rows = test
        ? filtered(lists, env, (item) => isTrue(test.of(withItem(env, item))))
        : lists.map((list) => list.of(env));
      return fuse(run, {
        kind: 'fuse',
        of: rows.map((each) => piece(() => rowsOf(each).map(bare))),
        k: k === undefined ? null : piece(() => k),
        weights: weights ? piece(() => weights) : null,
      });
    },
  );
}

/** What searches find among those that pass: all are found, then as many as were asked for are kept. */
function filtered(lists: readonly Elements[], env: Env, passes: (item: Item) => boolean): Value[] {
  const hidden: Item['element'][] = [];
  for (const element of env.graph.elements)
    if (element.alive && ends.includes(element.type.name) && !passes(new Item(element)))
      hidden.push(element);
  // Frequencies of words are those of all: only vectors may be hidden before the search.
  return lists.map((list) => {
    if (list.text.startsWith('SearchBM25')) {
      const k = Number(/, (\d+)\)$/.exec(list.text)![1]);
      const open = { ...list, text: list.text.replace(/\d+\)$/, `${searchMost})`) };
      const all = rowsOf(allOf(open, env));
      return all.filter((row) => !hidden.includes((row as Item).element)).slice(0, k);
    }
    for (const element of hidden) element.alive = false;
    try {
      return list.of(env);
    } finally {
      for (const element of hidden) element.alive = true;
    }
  });
}

function allOf(list: Elements, env: Env): Value {
  const [, label, words] = /<(\w+)>\("([^"]*)"/.exec(list.text)!;
  const type = { kind: labels[label!]!.kind, name: label! };
  return searchText(runOf(env), {
    kind: 'searchText',
    type,
    text: piece(() => words!),
    k: piece(() => searchMost),
  } as never);
}
