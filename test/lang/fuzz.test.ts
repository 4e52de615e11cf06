// Mutated sources: never a crash, always valid places, well-formed plans, and time in proportion.
import { expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { examplesText, gardenText } from './garden.js';
import { checkPlan } from './plan-check.js';

const rounds = process.env.TRELLIS_TEST_LONG === '1' ? 1_000_000 : 800;

/** Processor time, so that a busy machine does not fail a test. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** A small generator with a seed, so that a failure can be repeated (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const queries = examplesText.split(/(?=^QUERY|^#\[)/m).filter((text) => text.startsWith('QUERY'));
const declarations = gardenText.split('\n');
const token = /[A-Za-z_][A-Za-z0-9_]*|"[^"]*"|-?[0-9.]+|::|<-|=>|\s+|./g;
const words = [...new Set((gardenText + examplesText).match(token))];
const oddities = [
  '\0',
  '"',
  '/*',
  '\\',
  '::',
  '{',
  '(',
  '[',
  '}',
  ')',
  ']',
  '_',
  '..',
  '|',
  '\u{1f600}',
];

function mutate(text: string, random: () => number): string {
  const parts = text.match(token) ?? [];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const place = () => Math.floor(random() * (parts.length + 1));
  const count = 1 + Math.floor(random() * 4);
  for (let i = 0; i < count; i++) {
    const at = place();
    const choice = Math.floor(random() * 7);
    if (choice === 0) parts.splice(at, 1);
    else if (choice === 1) parts.splice(at, 0, pick(words));
    else if (choice === 2) parts[at] = pick(words);
    else if (choice === 3) parts.splice(at, 0, pick(oddities));
    else if (choice === 4) parts.splice(at, 0, ...parts.slice(at, at + Math.floor(random() * 12)));
    else if (choice === 5) parts.splice(at, Math.floor(random() * 8));
    else parts.splice(at, 0, ...(pick(queries).match(token) ?? []).slice(place(), place() + 10));
  }
  return parts.join('');
}

test('mutated sources never crash the compiler', { timeout: 3_600_000 }, () => {
  let compiled = 0;
  for (let round = 0; round < rounds; round++) {
    const random = generator(round);
    const query = queries[Math.floor(random() * queries.length)]!;
    const schema = random() < 0.2 ? mutate(gardenText, random) : declarations.join('\n');
    const text = mutate(query, random);
    const sources = [
      { path: 'garden.hx', text: schema },
      { path: 'q.hx', text },
    ];
    const start = cpuMs();
    const { program, diagnostics } = compile(sources, { compat: random() < 0.5 });
    expect(cpuMs() - start, text).toBeLessThan(1000);
    expect(program === undefined).toBe(diagnostics.some((d) => d.severity === 'error'));
    for (const d of diagnostics) {
      const lines = (d.file === 'q.hx' ? text : schema).split('\n');
      const where = `${round}: ${d.code} ${d.line}:${d.column} ${text}`;
      expect(d.code, where).not.toBe('E655');
      expect(lines[d.line - 1], where).toBeDefined();
      expect(d.column, where).toBeGreaterThanOrEqual(1);
      expect(d.column, where).toBeLessThanOrEqual(lines[d.line - 1]!.length + 1);
      expect(d.endLine > d.line || d.endColumn >= d.column, where).toBe(true);
      expect(d.message.length, where).toBeGreaterThan(0);
    }
    for (const { plan } of program?.queries ?? []) checkPlan(plan);
    if (program !== undefined) compiled++;
  }
  // Mutations that keep a query valid must exist, or plans are never looked at.
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
    expect(cpuMs() - start).toBeLessThan(2000);
    expect(diagnostics.map((d) => d.code)).not.toContain('E655');
    if (name !== 'long chain' && name !== 'many shapes') expect(program).toBeUndefined();
    for (const { plan } of program?.queries ?? []) expect(plan.slotCount).toBeLessThan(200_000);
  });
}
