// Mutated sources: never a crash, always valid places, well-formed plans, and time in proportion.
import { expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { nextTurn } from '../support/run/next-turn.js';
import { corpusProjects, cpuMs, judge, Mutator } from '../support/source-mutation.js';
import { examplesText, gardenText } from './garden.js';
import { checkPlan } from './plan-check.js';
import { expectFigure } from '../support/run/figure.js';

const rounds = process.env.TRELLIS_TEST_LONG === '1' ? 1_000_000 : 600;

test('mutated sources never crash the compiler', { timeout: 7_200_000 }, async () => {
  const examples = { schema: gardenText, queries: examplesText };
  const mutator = new Mutator([examples, ...corpusProjects()]);
  let compiled = 0;
  for (let seed = 0; seed < rounds; seed++) {
    const { sources, compat } = mutator.sources(seed);
    const { fault, program } = judge(sources, compat);
    if (fault !== undefined) expect.fail(`seed ${seed}: ${fault}\n${sources[1]!.text}`);
    for (const { plan } of program?.queries ?? []) checkPlan(plan);
    if (program !== undefined) compiled++;
    if (seed % 1000 === 999) await nextTurn();
  }
  // Mutations that keep a project valid must exist, or plans are never looked at.
  expect(compiled).toBeGreaterThan(rounds / 50);
});

const prefix = 'N::P { name: String, age: U8 }\nE::K { From: P, To: P }\n';

const heavy: [name: string, text: string][] = [
  [
    'nested conditions',
    `${prefix}QUERY q() => xs <- N<P>::WHERE(${'AND('.repeat(10_000)}\nRETURN xs`,
  ],
  ['nested objects', `${prefix}QUERY q() => RETURN ${'{a: '.repeat(10_000)}`],
  ['nested arrays', `${prefix}QUERY q() => RETURN ${'['.repeat(200_000)}`],
  ['nested parentheses', `${prefix}QUERY q() => RETURN ${'('.repeat(10_000)}`],
  ['nested types', `${prefix}QUERY q(a: ${'['.repeat(10_000)}) => RETURN 1`],
  ['nested negations', `${prefix}QUERY q() => RETURN ${'!'.repeat(100_000)}true`],
  ['nested loops', `${prefix}QUERY q(x: [U8]) => ${'FOR a IN x { '.repeat(10_000)}`],
  ['chained comparisons', `${prefix}QUERY q() => RETURN N<P>::COUNT${'::EQ(1)'.repeat(20_000)}`],
  ['long chain', `${prefix}QUERY q() => RETURN N<P>${'::Out<K>'.repeat(20_000)}`],
  ['many shapes', `${prefix}QUERY q() => RETURN N<P>${'::{name}'.repeat(20_000)}`],
  [
    'doubling members',
    `${prefix}QUERY q() => RETURN N<P>::{a: ADD(_::{age}, 1)}${'::{a: ADD(_::{a}, _::{a})}'.repeat(300)}`,
  ],
  [
    'doubling variables',
    `${prefix}QUERY q() => x0 <- N<P>::{name, age} ${Array.from({ length: 300 }, (_, i) => `x${i + 1} <- N<P>::{p: x${i}, q: x${i}} `).join('')} RETURN x300`,
  ],
  ['long name', `${prefix}QUERY q${'a'.repeat(500_000)}() => RETURN "x"`],
  ['long number', `${prefix}QUERY q() => RETURN ${'1'.repeat(900_000)}`],
  ['dotted number', `${prefix}QUERY q() => RETURN ${'1.'.repeat(400_000)}1`],
  ['foreign characters', '@ '.repeat(100_000)],
  ['open strings', `${'"\\q\n'.repeat(50_000)}`],
  ['comments', `${'// x\n/* y */'.repeat(60_000)}QUERY q() => zzz`],
  ['colons', '::'.repeat(100_000)],
  ['keywords', 'QUERY '.repeat(50_000)],
  ['too many statements', `${prefix}QUERY q() => ${'x <- 1 '.repeat(5_000)} RETURN 1`],
];

for (const [name, text] of heavy) {
  test(`${name}: refused in time`, () => {
    const start = cpuMs();
    const { program, diagnostics } = compile([{ path: 'q.hx', text }], { compat: false });
    expectFigure(cpuMs() - start, 2_000, 'ms of CPU to refuse');
    expect(diagnostics.map((d) => d.code)).not.toContain('E655');
    expect(program).toBeUndefined();
    for (const { plan } of program?.queries ?? []) expect(plan.slotCount).toBeLessThan(200_000);
  });
}
