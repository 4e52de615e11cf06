// The contract that callers rely on: an addition is no change, and every other change is reported by the name
// of its query or type.
import { expect, test } from 'vitest';
import { computeContract } from '../../engine/contract/contract-hash.js';
import { compile } from '../../engine/lang/compile.js';
import type { OutputMember, OutputType } from '../../engine/plan/output-type.js';
import { bind } from '../../server/client/client.js';

const base = `
N::Work { INDEX title: String, year: I32 }
E::Cites { From: Work, To: Work }
QUERY find(title: String, most?: U32) =>
  w <- N<Work>({title: title})
  RETURN w
QUERY add(title: String) => w <- AddN<Work>({title: title}) RETURN w::{title}
QUERY years() => w <- N<Work> RETURN w::{year}
`;

const contractFor = (text: string) => {
  const { program, diagnostics } = compile([{ path: 'a.hx', text }], { compat: false });
  return computeContract(program ?? expect.fail(JSON.stringify(diagnostics)));
};

/** What a module that was generated from the base says of a program. */
function changesIn(text: string): string[] {
  let told: string[] = [];
  const relies = (changes: (inForce: Record<string, string>) => string[]): void => {
    told = changes(contractFor(text));
  };
  bind({ call: async () => undefined as never, relies }, {}, contractFor(base));
  return told;
}

const cases: [string, [from: string, to: string][], string[]][] = [
  ['nothing', [], []],
  ['a query more', [['QUERY years', 'QUERY all() => w <- N<Work> RETURN w\nQUERY years']], []],
  ['a type more', [['E::Cites', 'N::Other { a: I8 }\nE::Cites']], []],
  ['a property more', [['year: I32 }', 'year: I32, place: String }']], []],
  ['a parameter more that may be left out', [['most?: U32', 'most?: U32, least?: U32']], []],
  ['a member of the answer more', [['RETURN w::{year}', 'RETURN w::{year, title}']], []],
  ['a parameter more that is needed', [['most?: U32', 'most: U32']], ['find']],
  ['a parameter of another type', [['most?: U32', 'most?: I32']], ['find']],
  ['a parameter that has gone', [[', most?: U32', '']], ['find']],
  ['a property of another type', [['year: I32', 'year: I64']], ['years', 'N::Work']],
  ['a query that has gone', [['QUERY years', 'QUERY other']], ['years']],
  ['a member of the answer that has gone', [['RETURN w::{title}', 'RETURN w::ID']], ['add']],
  ['a type that has gone', [['E::Cites { From: Work, To: Work }', '']], ['E::Cites']],
  [
    'a query that writes now',
    [['QUERY years() => w', 'QUERY years() => x <- AddN<Work>({title: "x"}) w']],
    ['years'],
  ],
];
test.each(cases)('%s', (_, edits, names) => {
  let text = base;
  for (const [from, to] of edits) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  expect(changesIn(text)).toEqual(names);
});

test('types that share their parts sixty levels deep are compared in milliseconds', () => {
  let type: OutputType = { kind: 'scalar', name: 'U8' };
  for (let i = 0; i < 60; i++) {
    const of: OutputType = { kind: 'list', of: type };
    const members: OutputMember[] = ['a', 'b'].map((name) => ({ name, type: of }));
    type = i % 2 === 0 ? { kind: 'record', members } : { kind: 'union', of: [type, of] };
  }
  const { program } = compile([{ path: 'a.hx', text: base }], { compat: false });
  program!.queries[0]!.output = { members: [{ name: 'a', type }] };
  expect(computeContract(program!).find!.length).toBeLessThan(2_000);
});
