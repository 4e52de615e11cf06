// A generated call: the source, compiled to both plans, the arguments, its meaning, and the meaning as
// printed text.
import { printDate } from '../../../engine/base/date.js';
import { TrellisError } from '../../../engine/base/errors.js';
import { Instant, Uuid } from '../../../engine/base/value.js';
import { compile } from '../../../engine/lang/compile.js';
import type { Program } from '../../../engine/plan/program.js';
import type { Tree } from '../oracle/oracle-print.js';
import { GroupRec, treeOf } from '../oracle/oracle-print.js';
import { Undetermined } from '../oracle/oracle-run.js';
import { isList, Rec, rowsOf, type Value } from '../oracle/oracle-value.js';
import { Random } from '../random.js';
import { Shaped } from './meaning.js';
import type { Env } from './part.js';
import { runOf } from './run.js';
import type { ScalarName } from './type.js';
import type { Sentence } from './query.js';
import { now, read, type SentenceWorld, sentenceSchema } from './fixture.js';

/** Shapes in place of the elements that have them. */
function unfolded(value: Value): Value {
  if (isList(value)) return value.map(unfolded);
  if (value instanceof Shaped) return unfolded(value.shape);
  if (!(value instanceof Rec)) return value;
  const copy = Object.assign(Object.create(Object.getPrototypeOf(value) as object) as Rec, value);
  const bare = value instanceof GroupRec ? unshaped : (of: Value): Value => of;
  return Object.assign(copy, {
    entries: value.entries.map(([name, of]) => [name, unfolded(name === 'data' ? bare(of) : of)]),
  });
}

/** Items of a group with one name in their shape are its values. */
function unshaped(data: Value): Value {
  return rowsOf(data).map((item) => {
    if (!(item instanceof Shaped) || item.shape.entries.length !== 1) return item;
    return item.shape.entries[0]![1];
  });
}

const kindsOf: Record<string, ScalarName> = {
  I32: 'int',
  U8: 'int',
  F64: 'float',
  String: 'text',
  Boolean: 'bool',
  Date: 'date',
  ID: 'id',
};

function json(value: Value): string {
  if (value instanceof Instant) return JSON.stringify(printDate(value));
  if (value instanceof Uuid) return JSON.stringify(value.text);
  return JSON.stringify(value);
}

export interface Compiled {
  left: Sentence[];
  planned: Program;
  literal: Program;
  refusals: string[];
  refused: number;
}

/** Queries that both plans accept; for the others, the reason. */
export function compiledBoth(sentences: readonly Sentence[], further = ''): Compiled {
  let left = [...sentences];
  const refusals: string[] = [];
  const sources = () => [
    { path: 'a.hx', text: sentenceSchema + further },
    ...left.map(({ name, text }) => ({ path: `${name}.hx`, text })),
  ];
  let { program, diagnostics } = compile(sources(), { compat: false });
  if (program === undefined) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const faulty = new Set(errors.map(({ file }) => file));
    for (const error of errors) {
      const found = left.find(({ name }) => `${name}.hx` === error.file);
      refusals.push(
        `${error.code} ${error.line}:${error.column} ${error.message} (${error.hint ?? ''})\n${found?.text}`,
      );
    }
    left = left.filter(({ name }) => !faulty.has(`${name}.hx`));
    ({ program, diagnostics } = compile(sources(), { compat: false }));
  }
  const literal = compile(sources(), { compat: false, literal: true });
  if (program === undefined || literal.program === undefined)
    throw new RangeError(JSON.stringify(diagnostics[0] ?? literal.diagnostics[0]));
  const refused = sentences.length - left.length;
  return { left, planned: program, literal: literal.program, refusals, refused };
}

export interface Asked {
  members: string[];
  params: Map<string, Value>;
}

/** Arguments for a sentence: absent, null, or one of its values; ids of what the world has. */
export function argumentsFor(one: Sentence, { graph }: SentenceWorld, turn: number): Asked {
  const random = new Random(turn + 7);
  const members: string[] = [];
  const params = new Map<string, Value>();
  for (const { name, type, optional, given, values, cursor } of one.parameters) {
    if (cursor !== undefined) {
      params.set(name, null);
      continue;
    }
    const fallback = given === undefined ? null : read(kindsOf[type]!, given);
    if ((optional || given !== undefined) && random.chance(0.4)) {
      if (random.chance(0.5)) members.push(`"${name}":null`);
      params.set(name, fallback);
      continue;
    }
    const pool = graph.elements.filter(({ alive, type: of }) => alive && /Ant|Bee/.test(of.name));
    const isMissing = random.chance(0.1) || pool.length === 0;
    const value =
      type === 'ID'
        ? new Uuid(isMissing ? '00000000-0000-7000-8000-000000000000' : random.pick(pool).uuid)
        : random.pick(values);
    params.set(name, value);
    members.push(`"${name}":${json(value)}`);
  }
  return { members, params };
}

export const envOf = ({ graph }: SentenceWorld, params: ReadonlyMap<string, Value>): Env => ({
  graph,
  now,
  params,
  vars: new Map(),
  item: undefined,
});

/** What it means: named values, a failure, or nothing that is determined. */
export function meaningOf(one: Sentence, env: Env): [string, Value][] | string | undefined {
  try {
    return one.of(env);
  } catch (error) {
    if (error instanceof Undetermined) return undefined;
    if (!(error instanceof TrellisError)) throw error;
    return error.code;
  }
}

/** Named values as they are printed. */
export function treesOf(world: SentenceWorld, named: readonly [string, Value][]): Tree {
  const run = runOf(envOf(world, new Map()));
  const style = { data: false, helix: false, fractions: false };
  return new Map(named.map(([name, value]) => [name, treeOf(run, unfolded(value), style)]));
}
