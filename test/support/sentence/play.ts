// Plays sentences: compiles them, asks the engine by both plans, and compares with what they mean.
import { printDate } from '../../../engine/base/date.js';
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { Instant, Uuid } from '../../../engine/base/value.js';
import { decodeParameters } from '../../../engine/json/decode.js';
import { compile } from '../../../engine/lang/compile.js';
import type { Plan, Query } from '../../../engine/plan/plan.js';
import { printPlan } from '../../../engine/plan/print.js';
import { difference } from '../oracle/oracle-match.js';
import { GroupRec, treeOf } from '../oracle/oracle-print.js';
import { Undetermined } from '../oracle/oracle-run.js';
import { isList, Rec, rowsOf, type Value } from '../oracle/oracle-value.js';
import { Random } from '../random.js';
import { mismatch } from '../reply-conforms.js';
import { Shaped } from './meaning.js';
import type { Env } from './part.js';
import { runOf } from './run.js';
import type { ScalarName } from './type.js';
import { sentence, type Sentence } from './sentence.js';
import { now, read, SentenceWorld, sentenceSchema } from './world.js';

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

export interface Counts {
  written: number;
  refused: number;
  agreed: number;
  failed: number;
}

export class SentencePlay {
  readonly counts: Counts = { written: 0, refused: 0, agreed: 0, failed: 0 };
  readonly faults: string[] = [];
  readonly refusals: string[] = [];
  readonly world: SentenceWorld;

  constructor(readonly seed: number) {
    this.world = new SentenceWorld(seed);
  }

  /** Plays that many sentences, compiled together. */
  play(from: number, count: number, depth: number): void {
    let left = Array.from({ length: count }, (_, i) => sentence(from + i, `s${from + i}`, depth));
    this.counts.written += left.length;
    const sources = (of: readonly Sentence[]) => [
      { path: 'a.hx', text: sentenceSchema },
      ...of.map(({ name, text }) => ({ path: `${name}.hx`, text })),
    ];
    let compiled = compile(sources(left), { compat: false });
    if (compiled.program === undefined) {
      const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error');
      const faulty = new Set(errors.map(({ file }) => file));
      for (const error of errors) {
        const found = left.find(({ name }) => `${name}.hx` === error.file);
        this.refusals.push(
          `${error.code} ${error.line}:${error.column} ${error.message} (${error.hint ?? ''})\n${found?.text}`,
        );
      }
      this.counts.refused += faulty.size;
      left = left.filter(({ name }) => !faulty.has(`${name}.hx`));
      compiled = compile(sources(left), { compat: false });
    }
    const literal = compile(sources(left), { compat: false, literal: true });
    if (compiled.program === undefined || literal.program === undefined)
      throw new RangeError(JSON.stringify(compiled.diagnostics[0] ?? literal.diagnostics[0]));
    for (const one of left) {
      const query = compiled.program.queries.find(({ name }) => name === one.name)!;
      const plain = literal.program.queries.find(({ name }) => name === one.name)!;
      for (const turn of [0, 1, 2]) if (this.#ask(one, query, plain.plan, turn)) break;
    }
  }

  #ask(one: Sentence, query: Query, literal: Plan, turn: number): boolean {
    const random = new Random(turn + 7);
    const members: string[] = [];
    const params = new Map<string, Value>();
    const { elements } = this.world.graph;
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
      const pool = elements.filter(({ type: of }) => /Ant|Bee/.test(of.name));
      const value =
        type === 'ID'
          ? new Uuid(
              random.chance(0.1) ? '00000000-0000-7000-8000-000000000000' : random.pick(pool).uuid,
            )
          : random.pick(values);
      params.set(name, value);
      members.push(`"${name}":${json(value)}`);
    }
    const cursor = one.parameters.find((each) => each.cursor !== undefined);
    // Of two pages, nobody knows to which a position belongs.
    const isOnly = one.text.split('::PAGE(').length === 2;
    let answer = this.#compare(one, query, literal, members, params);
    if (cursor === undefined || !isOnly) return answer === undefined;
    for (let before = cursor.cursor!; answer !== undefined; before += cursor.cursor!) {
      const [next, another] = [...answer.matchAll(/"next":"([\w-]+)"/g)];
      if (next === undefined || another !== undefined) return false;
      const further = [...members, `"${cursor.name}":"${next[1]}"`];
      answer = this.#compare(
        one,
        query,
        literal,
        further,
        new Map(params).set(cursor.name, before),
      );
    }
    return true;
  }

  /** What is answered, if it is what the sentence means; otherwise the fault is noted. */
  #compare(
    one: Sentence,
    query: Query,
    literal: Plan,
    members: readonly string[],
    params: ReadonlyMap<string, Value>,
  ): string | undefined {
    const body = `{${members.join(',')}}`;
    const answers = [query.plan, literal].map((plan) => this.#answer(plan, body));
    const wanted = this.#meaning(one, {
      graph: this.world.graph,
      now,
      params,
      vars: new Map(),
      item: undefined,
    });
    if (wanted === undefined) return '';
    const wrong = this.#wrong(query, answers as [string, string], wanted);
    if (wrong === undefined) return answers[0]!;
    this.faults.push(
      [
        `seed ${this.seed}: ${wrong}`,
        one.text,
        body,
        printPlan(query.plan),
        ...(answers as string[]).map((each) => each.slice(0, 400)),
      ].join('\n'),
    );
    return undefined;
  }

  #answer(plan: Plan, body: string): string {
    try {
      const args = decodeParameters(Buffer.from(body), plan.parameters, plan.name, defaultLimits);
      return Buffer.from(this.world.engine.read({ plan, args }).body).toString();
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      return error.code;
    }
  }

  #meaning(one: Sentence, env: Env): [string, Value][] | string | undefined {
    try {
      return one.of(env);
    } catch (error) {
      if (error instanceof Undetermined) return undefined;
      if (!(error instanceof TrellisError)) throw error;
      return error.code;
    }
  }

  #wrong(
    query: Query,
    [planned, literal]: [string, string],
    wanted: [string, Value][] | string,
  ): string | undefined {
    const isAnswer = planned.startsWith('{');
    if (planned !== literal) return 'planned is not literal';
    if (typeof wanted === 'string') {
      this.counts.failed++;
      return isAnswer || planned !== wanted
        ? `${planned.slice(0, 99)} instead of ${wanted}`
        : undefined;
    }
    if (!isAnswer) return `${planned} instead of an answer`;
    const run = runOf({
      graph: this.world.graph,
      now,
      params: new Map(),
      vars: new Map(),
      item: undefined,
    });
    const style = { data: false, helix: false, fractions: false };
    const tree = new Map(
      wanted.map(([name, value]) => [name, treeOf(run, unfolded(value), style)]),
    );
    this.counts.agreed++;
    const answer = planned.replace(/"next":"[\w-]+"/g, '"next":"more"');
    return (
      difference(answer, tree, () => undefined) ??
      mismatch(query.output, planned, this.world.graph.schema as never)
    );
  }

  close(): void {
    this.world.close();
  }
}
