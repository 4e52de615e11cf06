// Runs every query of an outside project on generated parameters, several rounds, so that later ones meet the
// elements of earlier ones. Nothing a client may send may be answered with a 5xx, and an answer is of the type that
// the compiler says its query has.
import {
  type Database,
  type Program,
  type Query,
  type Source,
  TrellisError,
  compile,
  openDatabase,
} from '../../engine/internal.js';
import type { Config } from '../../server/config/config.js';
import { databaseOptions } from '../../server/config/database-options.js';
import { statusOf } from '../../server/http/http-error.js';
import type { ParameterType } from './corpus-project.js';
import { ReplyCheck } from './corpus-reply.js';
import { idTypes, isSeed, seedName, seedSource } from './corpus-seed.js';

export interface RunCounts {
  calls: number;
  answered: number;
  /** Calls refused as the caller's fault, by code. */
  refused: Map<string, number>;
  /** `query: code` of every answer that would be a 5xx. */
  faults: string[];
  /** Answers that are not of the type that is said of their query. */
  misfits: string[];
  /** Queries that were answered with 200 at least once. */
  worked: Set<string>;
}

const rounds = 4;
/** Elements of each type before every round. */
const seedRounds = 2;
const dimensions = 8;
const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const strayId = '00000000-0000-7000-8000-000000000000';
const words = ['alice', 'bob', 'fern', 'rose', 'a longer text of several words', ''];

/** Values by type; ids from those that the seed made, by the name of their type. */
class Generator {
  readonly ids = new Map<string, string[]>();
  #state = 1;

  #below(count: number): number {
    this.#state = (Math.imul(this.#state, 48_271) >>> 0) % 2_147_483_647;
    return this.#state % count;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!;
  }

  value(type: ParameterType, depth = 0): unknown {
    if (type.kind === 'object') {
      const members = type.members.filter(({ optional }) => !optional || this.#below(2) === 0);
      return Object.fromEntries(
        members.map(({ name, type: of }) => [name, this.value(of, depth + 1)]),
      );
    }
    if (type.kind === 'list') return this.#list(type.of, depth);
    switch (type.name) {
      case 'String':
        return this.#below(3) === 0 ? `text ${this.#below(1_000)}` : this.pick(words);
      case 'Boolean':
        return this.pick([true, false]);
      case 'Date':
        return this.pick(['2026-03-01T08:00:00Z', '1999-12-31', 1_700_000_000]);
      case 'ID':
        return this.id();
      case 'F32':
      case 'F64':
        return this.pick([0, 0.5, -1.5, 1, 3]);
      case 'U8':
      case 'U16':
      case 'U32':
      case 'U64':
      case 'U128':
        return this.pick([0, 1, 2, 5, 100]);
      default:
        return this.pick([0, 1, -1, 5, 100]);
    }
  }

  /** Returns the id of an element of the type, of any element, or sometimes of none. */
  id(type?: string): string {
    const own = type === undefined ? [...this.ids.values()].flat() : (this.ids.get(type) ?? []);
    return this.#below(16) === 0 || own.length === 0 ? strayId : this.pick(own);
  }

  /** A body for a query; every second time without what is optional. */
  body({ plan }: Query, types: ReadonlyMap<number, string>, withOptional: boolean): Buffer {
    const members = plan.parameters.flatMap(({ name, type, optional }, i) => {
      if (optional && !withOptional) return [];
      const isId = type.kind === 'scalar' && type.name === 'ID';
      return [[name, isId ? this.id(types.get(i)) : this.value(type)] as const];
    });
    return Buffer.from(JSON.stringify(Object.fromEntries(members)));
  }

  #list(of: ParameterType, depth: number): unknown[] {
    const isVector = of.kind === 'scalar' && (of.name === 'F64' || of.name === 'F32');
    const length = isVector ? dimensions : this.#below(4);
    return Array.from({ length }, () => this.value(of, depth + 1));
  }
}

/** The hash model answers for every model: what is tested is not a provider. */
function offline(program: Program): Program {
  const queries = program.queries.map((query) => {
    const { model: _, ...plan } = query.plan;
    return { ...query, plan };
  });
  return { ...program, queries };
}

/** The project with a query that creates each of its types. */
function withSeed(config: Config, sources: readonly Source[], program: Program): Program {
  const all = [...sources, seedSource(program.schema)];
  const compat = config.compat === 'helix-2';
  return compile(all, { compat, limits: config.limits }).program ?? program;
}

async function sow(database: Database, generator: Generator): Promise<void> {
  const { queries, schema } = database.program;
  const types = [...schema.nodes, ...schema.vectors, ...schema.edges];
  for (let i = 0; i < seedRounds; i++) {
    for (const { kind, name } of types) {
      const query = queries.find((each) => each.name === seedName(kind, name));
      if (query === undefined) continue;
      const body = generator.body(query, idTypes(query, schema), true);
      // Unique values may meet; the other rounds make enough.
      const answer = await Promise.resolve(database.call(query.name, body)).catch(() => undefined);
      const text = answer === undefined ? '' : Buffer.from(answer).toString();
      const made = text.match(idPattern) ?? [];
      generator.ids.set(name, [...(generator.ids.get(name) ?? []), ...made]);
    }
  }
}

export async function runQueries(
  config: Config,
  sources: readonly Source[],
  compiled: Program,
): Promise<RunCounts> {
  const program = offline(withSeed(config, sources, compiled));
  const database = await openDatabase({
    ...databaseOptions(config, program, () => {}),
    workers: 0,
    embeddingModel: `hash:${dimensions}`,
    minFreeBytes: 0,
  });
  const counts: RunCounts = {
    calls: 0,
    answered: 0,
    refused: new Map(),
    faults: [],
    misfits: [],
    worked: new Set(),
  };
  const generator = new Generator();
  const check = new ReplyCheck(program);
  const own = program.queries.filter((query) => !isSeed(query));
  try {
    for (let round = 0; round < rounds; round++) {
      await sow(database, generator);
      for (const query of own) {
        const body = generator.body(query, idTypes(query, program.schema), round % 2 === 0);
        counts.calls++;
        try {
          const misfit = check.misfit(query, await database.call(query.name, body));
          if (misfit !== undefined) counts.misfits.push(misfit);
          counts.answered++;
          counts.worked.add(query.name);
        } catch (error) {
          note(counts, query.name, error);
        }
      }
    }
  } finally {
    await database.close({ snapshot: false });
  }
  return counts;
}

function note(counts: RunCounts, name: string, error: unknown): void {
  const code = error instanceof TrellisError ? error.data.code : 'INTERNAL';
  if (statusOf(code).startsWith('5')) counts.faults.push(`${name}: ${code} ${String(error)}`);
  else counts.refused.set(code, (counts.refused.get(code) ?? 0) + 1);
}
