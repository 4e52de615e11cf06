// One world of the oracle: a random schema with random data, held by the engine and by the oracle,
// and the calls that both answer.
import { parseDate } from '../../../engine/base/date.js';
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { Argument, ItemList } from '../../../engine/exec/runtime/execute.js';
import { decodeParameters } from '../../../engine/json/decode.js';
import { compile } from '../../../engine/lang/compile.js';
import type { ReplyType } from '../../../engine/plan/output-type.js';
import type { Plan, Query } from '../../../engine/plan/plan.js';
import { printPlan } from '../../../engine/plan/print-plan.js';
import type { Program } from '../../../engine/plan/program.js';
import { LoneEngine } from '../server/lone-engine.js';
import { type OracleAnswer, runOracle } from './oracle.js';
import { OracleGraph } from './oracle-graph.js';
import { difference } from './oracle-match.js';
import type { WorldParameter } from './oracle-query.js';
import { Undetermined } from './oracle-run.js';
import {
  printSchema,
  randomSchema,
  strayIds,
  valueTexts,
  vectorTexts,
  type WorldType,
} from './oracle-schema.js';
import {
  dumpQuery,
  loadQuery,
  readQuery,
  type WorldQuery,
  writeQuery,
} from './oracle-statement.js';
import { type Item, Rec, type Value } from './oracle-value.js';
import { Random } from '../random.js';
import { mismatch } from '../reply-conforms.js';

const now = parseDate('2026-03-02T09:30:00.123456Z')!;
const kinds = { N: 'node', E: 'edge', V: 'vector' } as const;

export interface WorldCounts {
  written: number;
  compiled: number;
  agreed: number;
  failed: number;
  open: number;
}

/** Values of arguments as the oracle holds them. */
function heldValue(argument: Argument): Value {
  if (argument instanceof Map)
    return new Rec([...argument].map(([name, value]) => [name, heldValue(value)]));
  if (Array.isArray(argument) || argument instanceof Float64Array)
    return Array.from(argument as readonly Argument[], heldValue);
  return (argument ?? null) as Value;
}

type Outcome<T> = { ok: T } | { code: string };

function attempt<T>(work: () => T): Outcome<T> {
  try {
    return { ok: work() };
  } catch (error) {
    if (error instanceof TrellisError) return { code: error.code };
    throw error;
  }
}

export class World {
  readonly random: Random;
  readonly types: readonly WorldType[];
  readonly counts: WorldCounts = { written: 0, compiled: 0, agreed: 0, failed: 0, open: 0 };
  readonly graph: OracleGraph;
  readonly engine: LoneEngine;
  readonly #names = new Map<string, string>();
  /** Whether the engine holds what the oracle does not know. */
  #isApart = false;
  readonly program: Program;
  readonly #literal: Map<string, Query>;
  readonly #queries: readonly WorldQuery[];

  constructor(readonly seed: number) {
    this.random = new Random(seed);
    const { random } = this;
    this.types = randomSchema(random);
    const compat = random.chance(0.2);
    const loads = this.types.map((type) => loadQuery(random, this.types, type));
    const reads = Array.from({ length: 12 }, (_, i) => readQuery(random, this.types, `read${i}`));
    const writes = Array.from({ length: 6 }, (_, i) => writeQuery(random, this.types, `write${i}`));
    const all = [...loads, dumpQuery(this.types), ...reads, ...writes];
    this.counts.written = reads.length + writes.length;
    const schema = printSchema(this.types);
    const [program, queries] = compileValid(schema, all, { compat });
    const fixed = loads.length + 1;
    this.counts.compiled = queries.length - fixed;
    this.program = program;
    this.#queries = queries;
    const texts = [schema, ...queries.map(({ text }) => text)].join('\n');
    const literal = compile([{ path: 'world.hx', text: texts }], { compat, literal: true });
    this.#literal = new Map(literal.program!.queries.map((query) => [query.name, query]));
    this.graph = new OracleGraph(program.schema);
    this.engine = new LoneEngine(program, now);
  }

  /** Everything, in this world; fails with a description of the first disagreement. */
  play(): void {
    for (const type of this.types) {
      const query = this.#queries.find(({ name }) => name === `load${type.name}`)!;
      for (let i = 2 + this.random.below(6); i > 0; i--) this.#call(query);
    }
    const rest = this.#queries.filter(({ name }) => /^(read|write)/.test(name));
    for (const query of rest) {
      this.#call(query);
      if (query.name.startsWith('write')) {
        for (const other of rest.slice(0, 3)) this.#call(other);
      } else this.#call(query);
    }
    this.#call(this.#queries.find(({ name }) => name === 'dump')!);
  }

  #body(query: WorldQuery): string {
    const members = query.parameters.flatMap((parameter) => {
      const value = this.#argument(parameter);
      return value === undefined ? [] : [`"${parameter.name}":${value}`];
    });
    return `{${members.join(',')}}`;
  }

  #argument({ type, optional, element }: WorldParameter): string | undefined {
    const { random } = this;
    if (optional && random.chance(0.4)) return undefined;
    if (element === 'vector') return random.pick(vectorTexts);
    if (type === 'ID') return JSON.stringify(this.#id(element));
    const object = /^\[\{(\w+): (\w+)\}\]$/.exec(type);
    if (object !== null) {
      const [, name, of] = object;
      return `[${random.some(valueTexts[of!]!, 0.4).map((value) => `{"${name}":${value}}`)}]`;
    }
    if (type.startsWith('[') && valueTexts[type] === undefined)
      return `[${random.some(this.#texts(type.slice(1, -1)), 0.5).join(',')}]`;
    return random.pick(this.#texts(type));
  }

  #texts(type: string): readonly string[] {
    return type === 'ID' ? [JSON.stringify(this.#id()), ...valueTexts.ID!] : valueTexts[type]!;
  }

  #id(type?: string): string {
    const { random } = this;
    const alive = this.graph.elements.filter((element) => element.alive);
    const wanted = alive.filter((element) => element.type.name === type);
    const pool = wanted.length > 0 && random.chance(0.9) ? wanted : alive;
    if (pool.length === 0 || random.chance(0.04)) return random.pick(strayIds);
    return random.pick(pool).uuid;
  }

  #call(query: WorldQuery): void {
    const { plan, output } = this.program.queries.find(({ name }) => name === query.name)!;
    const body = this.#body(query);
    const args = attempt(() =>
      decodeParameters(Buffer.from(body), plan.parameters, plan.name, defaultLimits),
    );
    if ('code' in args) throw new RangeError(`${args.code} for ${body} of ${query.text}`);
    const literal = this.#literal.get(query.name)!.plan;
    const wrong = this.compare(plan, literal, args.ok, undefined, output);
    if (wrong !== undefined) throw new RangeError(this.#describe(query, body, wrong));
    if (plan.writes && query.name.startsWith('write')) {
      const dump = this.program.queries.find(({ name }) => name === 'dump')!.plan;
      const after = this.compare(dump, this.#literal.get('dump')!.plan, []);
      if (after !== undefined)
        throw new RangeError(this.#describe(query, body, `after it ${after}`));
    }
  }

  #describe({ name, text }: WorldQuery, body: string, wrong: string): string {
    const plan = this.program.queries.find((query) => query.name === name)!.plan;
    const parts = [`world ${this.seed}: ${wrong}`, text, body, printPlan(plan)];
    return [...parts, printSchema(this.types)].join('\n');
  }

  /** Runs one plan on both sides; how they differ, if they do. */
  compare(
    plan: Plan,
    literal: Plan,
    args: readonly Argument[],
    items?: { list: ItemList; rows: readonly Item[] },
    reply?: ReplyType,
  ): string | undefined {
    if (this.#isApart) return undefined;
    const engine = attempt(() => this.#engineAnswer(plan, args, items?.list));
    let oracle: Outcome<OracleAnswer>;
    const call = { graph: this.graph, plan: literal, args: args.map(heldValue), now };
    try {
      oracle = attempt(() => runOracle({ ...call, ...(items && { items: items.rows }) }));
    } catch (error) {
      if (!(error instanceof Undetermined)) throw error;
      this.counts.open++;
      // What the engine has written is not known to the oracle: the two have parted.
      if (plan.writes) this.#isApart = true;
      return undefined;
    }
    if (this.#isOpen(literal, engine, oracle)) {
      this.counts.open++;
      return undefined;
    }
    if ('code' in engine || 'code' in oracle) return this.#sameFailure(engine, oracle);
    this.#learnNames();
    const naming = (uuid: string) => this.#names.get(uuid);
    const { body, items: kept } = engine.ok;
    this.counts.agreed++;
    const text = Buffer.from(body).toString();
    const wrong =
      difference(text, oracle.ok.tree, naming) ??
      (reply && mismatch(reply, text, this.program.schema));
    if (wrong !== undefined || kept === undefined) return wrong;
    const got = Array.from(kept.ids, (id) => this.engine.uuidOf(id)).join();
    const wanted = oracle.ok.items!.map(({ element }) => element.uuid).join();
    return got === wanted ? undefined : `the new traversal is ${got} instead of ${wanted}`;
  }

  #engineAnswer(plan: Plan, args: readonly Argument[], items: ItemList | undefined) {
    const call = { plan, args, ...(items && { items }) };
    if (!plan.writes) return this.engine.read(call);
    const [result] = this.engine.write([call]);
    if ('error' in result!) throw result.error;
    return result!;
  }

  #sameFailure(engine: Outcome<unknown>, oracle: Outcome<unknown>): string | undefined {
    const [got, wanted] = [engine, oracle].map((one) => ('code' in one ? one.code : 'an answer'));
    this.counts.failed++;
    return got === wanted ? undefined : `${got} instead of ${wanted}`;
  }

  /**
   * The oracle computes every row; a step that stops early may never meet the row that cannot be
   * computed, and which of two faults is met first is open. Nothing may have been written then.
   */
  #isOpen(plan: Plan, engine: Outcome<unknown>, oracle: Outcome<unknown>): boolean {
    if (!('code' in oracle)) return false;
    const code = 'code' in engine ? engine.code : undefined;
    if (code === oracle.code) return false;
    if (code !== undefined)
      return !plan.writes || faultsOfValues.has(code) || faultsOfValues.has(oracle.code);
    if (oracle.code !== 'ARITHMETIC') return false;
    return !plan.writes && stopsEarly.test(JSON.stringify(plan, plain));
  }

  /** Gives the new elements of the oracle the ids that the engine gave them. */
  #learnNames(): void {
    for (const { kind, name } of this.types) {
      const own = this.graph.all({ kind: kinds[kind], name });
      if (!own.some((element) => element.uuid.startsWith('ffffffff-0000'))) continue;
      const theirs = this.engine.uuids(kinds[kind], name);
      for (const [i, element] of own.entries()) {
        if (!element.uuid.startsWith('ffffffff-0000') || theirs[i] === undefined) continue;
        this.#names.set(element.uuid, theirs[i]!);
        element.uuid = theirs[i]!;
      }
    }
  }

  close(): void {
    this.engine.close();
  }
}

/** One of the values of a query cannot be computed, and another cannot be accepted or stored. */
const faultsOfValues = new Set(['ARITHMETIC', 'PARAM_MISSING', 'PARAM_RANGE']);

const stopsEarly = /"kind":"(first|range|exists|compare|and|or|count|path)"/;

const plain = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

/** The program of those queries that are valid, and these. */
function compileValid(
  schema: string,
  queries: readonly WorldQuery[],
  options: { compat: boolean },
): [Program, WorldQuery[]] {
  let left = [...queries];
  for (;;) {
    const sources = [
      { path: 'a.hx', text: schema },
      ...left.map(({ name, text }) => ({ path: `q-${name}.hx`, text })),
    ];
    const { program, diagnostics } = compile(sources, options);
    if (program !== undefined) return [program, left];
    const faulty = new Set(diagnostics.filter((d) => d.severity === 'error').map((d) => d.file));
    const kept = left.filter(({ name }) => !faulty.has(`q-${name}.hx`));
    if (kept.length === left.length) throw new RangeError(JSON.stringify(diagnostics[0]));
    left = kept;
  }
}
