// Plays sentences: compiles them, asks the engine by both plans, and compares with what they mean.
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { decodeParameters } from '../../../engine/json/decode.js';
import type { Plan, Query } from '../../../engine/plan/plan.js';
import { printPlan } from '../../../engine/plan/print-plan.js';
import { difference } from '../oracle/oracle-match.js';
import type { Value } from '../oracle/oracle-value.js';
import { mismatch } from '../reply-conforms.js';
import { argumentsFor, compiledBoth, envOf, meaningOf, treesOf } from './generated-call.js';
import { sentence, type Sentence } from './query.js';
import { SentenceWorld } from './fixture.js';

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

  constructor(
    readonly seed: number,
    world?: SentenceWorld,
  ) {
    this.world = world ?? new SentenceWorld(seed);
  }

  /** Plays that many sentences, compiled together. */
  play(from: number, count: number, depth: number): void {
    const all = Array.from({ length: count }, (_, i) => sentence(from + i, `s${from + i}`, depth));
    const { left, planned, literal, refusals, refused } = compiledBoth(all);
    this.counts.written += all.length;
    this.counts.refused += refused;
    this.refusals.push(...refusals);
    for (const one of left) {
      const query = planned.queries.find(({ name }) => name === one.name)!;
      const plain = literal.queries.find(({ name }) => name === one.name)!;
      for (const turn of [0, 1, 2]) if (this.#ask(one, query, plain.plan, turn)) break;
    }
  }

  #ask(one: Sentence, query: Query, literal: Plan, turn: number): boolean {
    const { members, params } = argumentsFor(one, this.world, turn);
    const cursor = one.parameters.find((each) => each.cursor !== undefined);
    // With two pages, it is unknown to which page a position belongs.
    const isOnly = one.text.split('::PAGE(').length === 2;
    let answer = this.#compare(one, query, literal, members, params);
    if (cursor === undefined || !isOnly) return answer === undefined;
    for (let before = cursor.cursor!; answer !== undefined; before += cursor.cursor!) {
      // A page for each of many items: what stands behind a position differs from one to the next.
      const [next, another] = [...answer.matchAll(/"next":(?:"([\w-]+)"|null)/g)];
      if (next?.[1] === undefined || another !== undefined) return false;
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
    const wanted = meaningOf(one, envOf(this.world, params));
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
    const tree = treesOf(this.world, wanted);
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
