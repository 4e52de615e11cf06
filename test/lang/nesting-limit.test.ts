// The nesting limits of a query: steps and levels, in one chain, through arguments or through variables. A
// query at the limit runs. With one step or level more, it is refused at its position.
import { afterAll, describe, expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { compile } from '../../engine/lang/compile.js';
import { LoneEngine } from '../support/server/lone-engine.js';

const schema =
  'N::T { n: I64 }\nE::L { From: T, To: T }\nQUERY add() => t <- AddN<T>({n: 1}) RETURN t\n';
const steps = defaultLimits.source_steps;
const levels = defaultLimits.source_depth;

const repeat = (text: string, count: number): string => text.repeat(count);
const nest = (value: string, count: number): string =>
  `${'['.repeat(count)}${value}${']'.repeat(count)}`;

/** `count` statements, each made of the variable before. */
function statements(count: number, first: string, next: (before: string) => string): string {
  const lines = Array.from({ length: count }, (_, i) => `v${i + 1} <- ${next(`v${i}`)}`);
  return `v0 <- ${first}\n${lines.join('\n')}\nRETURN v${count}`;
}

/** Query texts by how many times something is done. */
const bodies: [what: string, body: (times: number) => string, most: number][] = [
  ['steps to neighbours', (n) => `RETURN N<T>${repeat('::Out<L>', n)}`, steps],
  ['steps to edges and ends', (n) => `RETURN N<T>${repeat('::OutE<L>::ToN', n)}`, steps / 2],
  ['conditions', (n) => `RETURN N<T>${repeat('::WHERE(_::{n}::GT(0))', n)}`, steps - 1 - 1],
  ['slices', (n) => `RETURN N<T>${repeat('::RANGE(0, 5)', n)}`, steps],
  ['orders', (n) => `RETURN N<T>${repeat('::ORDER<Asc>(_::{n})', n)}`, steps - 1],
  ['projections', (n) => `RETURN N<T>${repeat('::{n: n}', n)}`, steps],
  [
    'steps in conditions in conditions',
    (n) =>
      `RETURN N<T>${repeat('::Out<L>', 100)}::WHERE(EXISTS(_${repeat('::Out<L>', 100)}::WHERE(EXISTS(_${repeat('::Out<L>', n)}))))`,
    steps - 202,
  ],
  ['lists in a list', (n) => statements(1, '1', (v) => nest(v, n)), levels - 1],
  ['objects through variables', (n) => statements(n, '1', (v) => `{a: ${v}}`), levels],
  ['named by a member alone', (n) => statements(n, '1', (v) => `{a: {${v}}}`), levels / 2],
  ['lists through variables', (n) => statements(n, 'N<T>', (v) => `[${v}]`), levels],
  [
    'groups of groups',
    (n) => statements(n, 'N<T>::AGGREGATE_BY(n)', (v) => `${v}::AGGREGATE_BY(count)`),
    levels / 2 - 1,
  ],
  ['rows in projections', (n) => statements(n, '[{a: 1}]', (v) => `${v}::|x|{a: x}`), levels - 2],
];

function codes(body: string): string[] {
  const text = `${schema}QUERY q() =>\n${body}`;
  const { diagnostics } = compile([{ path: 'q.hx', text }], { compat: false });
  return [...new Set(diagnostics.filter((d) => d.severity === 'error').map((d) => d.code))];
}

describe('one step or level above the limit is refused', () => {
  test.each(bodies)('%s', (_what, body, most) => {
    expect(codes(body(most))).toEqual([]);
    expect(codes(body(most + 1))).toEqual(['E005']);
    expect(codes(body(3 * most))).toContain('E005');
  });

  test('with its position and the limit', () => {
    const text = `${schema}QUERY q() =>\nRETURN N<T>${repeat('::Out<L>', 2000)}`;
    const [first] = compile([{ path: 'q.hx', text }], { compat: false }).diagnostics;
    expect(first).toMatchObject({
      code: 'E005',
      query: 'q',
      line: 5,
      column: 'RETURN N<T>'.length + steps * '::Out<L>'.length + '::'.length + 1,
      hint: 'The limit is `limits.source_steps`.',
    });
  });
});

describe('statements add up to no more than their own', () => {
  const many = 990;
  test.each([
    ['numbers', statements(many, '1', (v) => `ADD(${v}, 1)`)],
    ['counts in lists', statements(many, 'N<T>::COUNT', (v) => `MAX([${v}, 1])`)],
    ['members by name', statements(many, 'N<T>', (v) => `${v}::{n: n}`)],
    ['chains', statements(many, 'N<T>', (v) => `${v}::Out<L>`)],
    ['long chains', statements(many, 'N<T>', (v) => `${v}${repeat('::RANGE(0, 1)', 12)}`)],
  ])('%s', (_what, body) => {
    expect(codes(body)).toEqual([]);
  });
});

describe('what is accepted at the limit runs', () => {
  const many = 990;
  const texts = [
    ...bodies.map(([, body, most]) => body(most)),
    statements(many, 'N<T>', (v) => `${v}::Out<L>`),
    statements(many, 'N<T>', (v) => `${v}${repeat('::RANGE(0, 1)', 12)}`),
  ];
  const text = `${schema}${texts.map((body, i) => `QUERY q${i}() =>\n${body}`).join('\n')}`;
  const { program } = compile([{ path: 'q.hx', text }], { compat: false });
  const engine = new LoneEngine(program!, { seconds: 0, micros: 0 });
  afterAll(() => engine.close());

  test('on the stack of any thread', () => {
    const plans = new Map(program!.queries.map((query) => [query.name, query.plan]));
    engine.write([{ plan: plans.get('add')!, args: [] }]);
    for (const i of texts.keys()) {
      const { body } = engine.read({ plan: plans.get(`q${i}`)!, args: [] });
      expect(body.length, texts[i]!.slice(0, 100)).toBeGreaterThan(5);
    }
  });
});
