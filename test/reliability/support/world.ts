// A small world that every kind of call can change, and its model. The world has units, each a node with
// keywords, a vector and edges to marks. One unit has one owner at a time, so its possible states are known:
// the last acknowledged one, or that of a call without a reply.
import { Random } from '../../support/random.js';

/** Undefined: there is no such unit. Words and vector follow from key and `n`. */
export type UnitState = { n: number; marks: string[] } | undefined;

export interface Belief {
  state: UnitState;
  /** The state after a call whose answer has not come. */
  maybe?: { state: UnitState };
}

export const markKeys = ['m0', 'm1', 'm2', 'm3'];

/** The vector type changes its name with every version of the schema. */
const faceOf = (version: number): string => `Face${version % 2}`;

const typesOf = (version: number): string => `
schema::${version} {
  N::Unit { UNIQUE INDEX key: String, INDEX n: I64, words: String, era: I64 }
  N::Mark { UNIQUE INDEX key: String }
  V::${faceOf(version)} { key: String, n: I64 }
  E::Shows { From: Unit, To: ${faceOf(version)}, Properties: { key: String } }
  E::Marks { From: Unit, To: Mark, Properties: { n: I64 } }
}`;

/** The sources of a version, with the migration that leads to it. */
export function worldSources(version: number): string {
  const face = faceOf(version);
  return `
${version > 1 ? typesOf(version - 1) : ''}
${typesOf(version)}
${
  version > 1
    ? `MIGRATION schema::${version - 1} => schema::${version} {
  N::Unit => _:: { era: ${version} }
  V::${faceOf(version - 1)} => V::${face} {}
}`
    : ''
}
QUERY found(keys: [String]) => FOR key IN keys { AddN<Mark>({ key: key }) } RETURN "ok"
QUERY put(key: String, n: I64, words: String, vec: [F64]) =>
  u <- AddN<Unit>({ key: key, n: n, words: words })
  f <- AddV<${face}>(vec, { key: key, n: n })
  AddE<Shows>({ key: key })::From(u)::To(f)
  RETURN "ok"
QUERY change(key: String, n: I64, words: String, vec: [F64]) =>
  u <- N<Unit>({ key: key })::UPDATE({ n: n, words: words })
  f <- N<Unit>({ key: key })::Out<Shows>::UpsertV(vec, { key: key, n: n })
  RETURN "ok"
QUERY replace(key: String, n: I64, words: String, vec: [F64]) =>
  u <- N<Unit>({ key: key })::UpsertN({ key: key, n: n, words: words })
  DROP N<Unit>({ key: key })::Out<Shows>
  f <- AddV<${face}>(vec, { key: key, n: n })
  AddE<Shows>({ key: key })::From(u)::To(f)
  RETURN "ok"
QUERY mark(key: String, mark: String) =>
  u <- N<Unit>({ key: key })
  m <- N<Mark>({ key: mark })
  e <- E<Marks>::UpsertE({ n: 1 })::From(u)::To(m)
  RETURN "ok"
QUERY unmark(key: String) => DROP N<Unit>({ key: key })::OutE<Marks> RETURN "ok"
QUERY remove(key: String) =>
  DROP N<Unit>({ key: key })::Out<Shows>
  DROP N<Unit>({ key: key })
  RETURN "ok"
QUERY clash(key: String, fresh: String, n: I64, words: String, vec: [F64]) =>
  u <- AddN<Unit>({ key: fresh, n: n, words: words })
  f <- AddV<${face}>(vec, { key: fresh, n: n })
  AddE<Shows>({ key: fresh })::From(u)::To(f)
  x <- AddN<Unit>({ key: key, n: n, words: words })
  RETURN "ok"
QUERY units() => u <- N<Unit> RETURN u::{
  key, n, words, era, faces: _::Out<Shows>::{key, n}, marks: _::Out<Marks>::{key}
}
QUERY faces() => f <- V<${face}> RETURN f::{key, n, units: _::In<Shows>::{key}}
QUERY marks() => m <- N<Mark> RETURN m::{key, units: _::In<Marks>::{key}}
QUERY counted(n: I64) => c <- N<Unit>({ n: n })::COUNT RETURN c
QUERY find(word: String) => u <- SearchBM25<Unit>(word, 10) RETURN u::{key, n}
QUERY near(vec: [F64]) => f <- SearchV<${face}>(vec, 1) RETURN f::{key, n}
`;
}

function numberOf(text: string): number {
  let number = 7;
  for (const character of text) number = (Math.imul(number, 31) + character.codePointAt(0)!) >>> 0;
  return number;
}

export function vectorOf(key: string, n: number): number[] {
  const random = new Random(numberOf(`${key} ${n}`));
  return Array.from({ length: 16 }, () => random.next() * 2 - 1);
}

/** A word that only this state of a unit has, of letters only: one with digits is also found by its parts. */
export const wordOf = (key: string, n: number): string =>
  `zq${key.replace('-', 'x')}n${n}zq`.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!);

const contentOf = (key: string, n: number) => ({
  key,
  n,
  words: `plain ${wordOf(key, n)} words`,
  vec: vectorOf(key, n),
});

/** One call about one unit, and the state after it. */
interface Move {
  path: string;
  key: string;
  body: object;
  after: UnitState;
}

/** What an owner can do with a unit in this state. `fresh` is an unused key. */
export function moveOf(key: string, state: UnitState, fresh: string, random: Random): Move {
  if (state === undefined) {
    const path = random.pick(['put', 'put', 'replace']);
    return { path, key, body: contentOf(key, 0), after: { n: 0, marks: [] } };
  }
  const n = state.n + 1;
  const moves: (() => Move)[] = [
    () => ({ path: 'change', key, body: contentOf(key, n), after: { ...state, n } }),
    () => ({ path: 'replace', key, body: contentOf(key, n), after: { ...state, n } }),
    () => {
      const mark = random.pick(markKeys);
      const marks = [...new Set([...state.marks, mark])].sort();
      return { path: 'mark', key, body: { key, mark }, after: { ...state, marks } };
    },
    () => ({ path: 'unmark', key, body: { key }, after: { ...state, marks: [] } }),
    () => ({ path: 'remove', key, body: { key }, after: undefined }),
    // Refused for its second half: nothing of its first may stay.
    () => ({ path: 'clash', key, body: { ...contentOf(key, 0), fresh }, after: state }),
  ];
  return random.pick(moves)();
}

/** Rows of an import that makes units, each in its first state. */
export function rowsOf(keys: readonly string[], version: number): string {
  const rows = keys.flatMap((key) => {
    const { words, vec } = contentOf(key, 0);
    return [
      { node: 'Unit', id: `u ${key}`, properties: { key, n: 0, words } },
      { vector: faceOf(version), id: `f ${key}`, values: vec, properties: { key, n: 0 } },
      { edge: 'Shows', from: `u ${key}`, to: `f ${key}`, properties: { key } },
    ];
  });
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
