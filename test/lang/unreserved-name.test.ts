// X001: no name of the extensions is reserved. Each works as the name of a parameter, a variable, a closure,
// a property, a member, a type and a query.
import { expect, test } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { decodeParameters } from '../../engine/json/decode.js';
import { compile } from '../../engine/lang/compile.js';
import { LoneEngine } from '../support/server/lone-engine.js';
import { now } from '../support/query-generator/fixture.js';

const names = [
  ...['UNION', 'EXCEPT', 'INTERSECT', 'IF', 'COALESCE', 'RerankRRF', 'UpsertE'],
  ...['LOWER', 'UPPER', 'TRIM', 'LENGTH', 'CONCAT', 'SUBSTRING', 'REPLACE', 'SPLIT'],
  ...['YEAR', 'MONTH', 'DAY', 'HOUR', 'TRUNC', 'DATE_ADD', 'DATE_DIFF'],
  ...['Both', 'BothE', 'Other', 'PAGE', 'STARTS_WITH', 'ENDS_WITH', 'DROP'],
  ...['hops', 'nulls', 'weights', 'k', 'NULLS', 'FIRST', 'LAST', 'list', 'next', 'items'],
];

/** Names of types begin with a capital letter, all of them. */
const types = names.filter((name) => /^[A-Z]/.test(name));

/** The queries of one name, and what each answers. */
const queriesOf = (name: string): (readonly [text: string, answer: string])[] => [
  [`QUERY ${name}Given(${name}: I64) => RETURN ${name}`, `{"${name}":5}`],
  [`QUERY ${name}Bound() => ${name} <- 5 x <- ADD(${name}, 1) RETURN x`, '{"x":6}'],
  [
    `QUERY ${name}Row() => x <- N<Thing>::|${name}|{ n: ${name}::{size} } RETURN x`,
    '{"x":[{"n":3}]}',
  ],
  [`QUERY ${name}Held() => x <- N<Own${name}>::{${name}} RETURN x`, `{"x":[{"${name}":4}]}`],
  [
    `QUERY ${name}Asked() => x <- N<Own${name}>::WHERE(_::{${name}}::EQ(4))::COUNT RETURN x`,
    '{"x":1}',
  ],
  [`QUERY ${name}Shown() => x <- N<Thing>::{ ${name}: size } RETURN x`, `{"x":[{"${name}":3}]}`],
  ...(types.includes(name)
    ? ([[`QUERY ${name}Typed() => x <- N<${name}>::COUNT RETURN x`, '{"x":1}']] as const)
    : []),
  [`QUERY ${name}() => RETURN 5`, '{"data":5}'],
];

const text = [
  'N::Thing { size: I64 }',
  ...names.map((name) => `N::Own${name} { ${name}: I64 }`),
  ...types.map((name) => `N::${name} {}`),
  'QUERY fill() =>',
  '  AddN<Thing>({size: 3})',
  ...names.map((name) => `  AddN<Own${name}>({${name}: 4})`),
  ...types.map((name) => `  AddN<${name}>()`),
  ...names.flatMap((name) => queriesOf(name).map(([query]) => query)),
].join('\n');

const { program, diagnostics } = compile([{ path: 'names.hx', text }], { compat: false });

test('names of the extensions are valid names everywhere [X001]', () => {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const lines = text.split('\n');
  expect(errors.map(({ line, message }) => `${lines[line - 1]}: ${message}`)).toEqual([]);
});

test('names of the extensions are read as what they are [X001]', () => {
  const engine = new LoneEngine(program!, now);
  const planOf = (name: string) => program!.queries.find((query) => query.name === name)!.plan;
  try {
    engine.write([{ plan: planOf('fill'), args: [] }]);
    for (const name of names)
      for (const [query, answer] of queriesOf(name)) {
        const plan = planOf(/QUERY (\w+)/.exec(query)![1]!);
        const body = Buffer.from(plan.parameters.length > 0 ? `{"${name}":5}` : '{}');
        const args = decodeParameters(body, plan.parameters, plan.name, defaultLimits);
        expect(Buffer.from(engine.read({ plan, args }).body).toString()).toBe(answer);
      }
  } finally {
    engine.close();
  }
});
