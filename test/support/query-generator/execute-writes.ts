// Runs queries that write. Two worlds start equal; one is changed by the planned form of each query, the
// other by the literal form. Results and stored data must be what the query means.
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { decodeParameters } from '../../../engine/json/decode.js';
import type { Plan, Query } from '../../../engine/plan/plan.js';
import { printPlan } from '../../../engine/plan/print-plan.js';
import { difference } from '../oracle/oracle-match.js';
import type { Tree } from '../oracle/oracle-print.js';
import { treeOf } from '../oracle/oracle-print.js';
import { Item } from '../oracle/oracle-value.js';
import { mismatch } from '../reply-conforms.js';
import { argumentsFor, compiledBoth, envOf, meaningOf, treesOf } from './generated-call.js';
import { changingSentence, type Sentence } from './query.js';
import { SentencePlay } from './execute.js';
import { runOf } from './run.js';
import { ofLabels } from './stream.js';
import { labels, letter, SentenceWorld } from './fixture.js';

interface ChangeCounts {
  written: number;
  refused: number;
  agreed: number;
  failed: number;
  /** Neither right nor wrong by the rules. */
  open: number;
}

const edgesOf = (label: string, end: 'from' | 'to'): string[] =>
  Object.keys(labels).filter((name) => labels[name]![end] === label);

/** All that is stored: elements with their values, and what the adjacency of each says. */
const everything = `\nQUERY everything() =>\n  RETURN { ${Object.entries(labels)
  .map(([name, { kind }]) => {
    const walks = [
      ...edgesOf(name, 'from').flatMap((e) => [
        `o${e}: _::OutE<${e}>::ID`,
        `p${e}: _::Out<${e}>::ID`,
      ]),
      ...edgesOf(name, 'to').flatMap((e) => [`i${e}: _::InE<${e}>::ID`, `j${e}: _::In<${e}>::ID`]),
    ];
    const members = ['..', ...(kind === 'vector' ? ['data'] : []), ...walks].join(', ');
    return kind === 'edge'
      ? `${name}: E<${name}>`
      : `${name}: ${letter(name)}<${name}>::{${members}}`;
  })
  .join(', ')} }\n`;

function treeOfAll(world: SentenceWorld): Tree {
  const { graph } = world;
  const run = runOf(envOf(world, new Map()));
  const plain = { data: false, helix: false, fractions: false };
  const all = Object.entries(labels).map(([name, { kind }]): [string, Tree] => {
    const items = ofLabels({ graph }, [name]);
    return [
      name,
      items.map((element) => {
        const own = treeOf(run, new Item(element), plain) as Map<string, Tree>;
        if (kind === 'edge') return own;
        const lists = (['from', 'to'] as const).flatMap((end) =>
          edgesOf(name, end).flatMap((edge): [string, Tree][] => {
            const found = graph.edges(element, [edge], end);
            const [a, b] = end === 'from' ? ['o', 'p'] : ['i', 'j'];
            const far = end === 'from' ? 'to' : 'from';
            return [
              [`${a}${edge}`, found.map(({ uuid }) => uuid)],
              [`${b}${edge}`, found.map((each) => each[far]!.uuid)],
            ];
          }),
        );
        const data = kind === 'vector' ? [['data', [...element.vector!]] as [string, Tree]] : [];
        return new Map([...own, ...data, ...lists]);
      }),
    ];
  });
  return new Map([['data', new Map(all)]]);
}

export class ChangePlay {
  readonly counts: ChangeCounts = { written: 0, refused: 0, agreed: 0, failed: 0, open: 0 };
  readonly faults: string[] = [];
  readonly refusals: string[] = [];
  /** Whether the worlds still are what they are taken for. */
  isSure = true;
  readonly #worlds: readonly [SentenceWorld, SentenceWorld];

  constructor(readonly seed: number) {
    this.#worlds = [new SentenceWorld(seed), new SentenceWorld(seed)];
  }

  /** Plays that many sentences, compiled together, until one is not what it means. */
  play(from: number, count: number, depth: number): void {
    const all = Array.from({ length: count }, (_, i) =>
      changingSentence(from + i, `c${from + i}`, depth),
    );
    const compiled = compiledBoth(all, everything);
    this.counts.written += all.length;
    this.counts.refused += compiled.refused;
    this.refusals.push(...compiled.refusals);
    const queryOf = (name: string) =>
      [compiled.planned, compiled.literal].map(
        ({ queries }) => queries.find((query) => query.name === name)!,
      ) as [Query, Query];
    for (const one of compiled.left)
      for (const turn of [0, 1]) {
        this.#ask(one, queryOf(one.name), queryOf('everything'), turn);
        if (!this.isSure) return;
      }
    this.#read(from + count, depth);
  }

  /** What has been changed is then read, by either plan. */
  #read(from: number, depth: number): void {
    const play = new SentencePlay(this.seed, this.#worlds[0]);
    play.play(from, 5, depth);
    this.counts.agreed += play.counts.agreed;
    this.faults.push(...play.faults);
  }

  #ask(one: Sentence, queries: [Query, Query], all: [Query, Query], turn: number): void {
    const found = this.#worlds.map((world, i) => {
      const { members, params } = argumentsFor(one, world, turn);
      const body = `{${members.join(',')}}`;
      const saved = world.graph.save();
      const answer = this.#answer(world, queries[i]!.plan, body);
      const wanted = meaningOf(one, envOf(world, params));
      if (wanted === undefined) return undefined;
      if (typeof wanted === 'string') world.graph.restore(saved);
      const learned = world.learn();
      const wrong = this.#wrong(world, queries[i]!, answer, wanted, learned);
      const stored = this.#answer(world, all[i]!.plan, '{}');
      const left = wrong ?? difference(stored, treeOfAll(world), () => undefined);
      if (left === undefined) return { answer };
      const form = ['planned', 'literal'][i]!;
      const plan = printPlan(queries[i]!.plan);
      return {
        fault: `seed ${this.seed}, ${form}: ${left}\n${one.text}\n${body}\n${plan}\n${answer.slice(0, 600)}`,
      };
    });
    if (found.includes(undefined)) this.counts.open++;
    this.faults.push(...found.flatMap((each) => each?.fault ?? []));
    this.isSure = found.every((each) => each !== undefined && each.fault === undefined);
  }

  #answer(world: SentenceWorld, plan: Plan, body: string): string {
    try {
      const args = decodeParameters(Buffer.from(body), plan.parameters, plan.name, defaultLimits);
      if (!plan.writes) return Buffer.from(world.engine.read({ plan, args }).body).toString();
      const [result] = world.engine.write([{ plan, args }]);
      if ('error' in result!) throw result.error;
      return Buffer.from(result!.body).toString();
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      return error.code;
    }
  }

  #wrong(
    world: SentenceWorld,
    query: Query,
    answer: string,
    wanted: Exclude<ReturnType<typeof meaningOf>, undefined>,
    learned: ReadonlyMap<string, string>,
  ): string | undefined {
    const isAnswer = answer.startsWith('{');
    if (typeof wanted === 'string') {
      this.counts.failed++;
      return isAnswer || answer !== wanted
        ? `${answer.slice(0, 99)} instead of ${wanted}`
        : undefined;
    }
    if (!isAnswer) return `${answer} instead of an answer`;
    this.counts.agreed++;
    const shown = answer.replace(/"next":"[\w-]+"/g, '"next":"more"');
    return (
      difference(shown, treesOf(world, wanted), (uuid) => learned.get(uuid)) ??
      mismatch(query.output, answer, world.graph.schema as never)
    );
  }

  close(): void {
    for (const world of this.#worlds) world.close();
  }
}
