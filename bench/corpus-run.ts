// Runs every query of an outside project on generated parameters, several rounds, so that later ones meet the
// elements of earlier ones. Nothing a client may send may be answered with a 5xx.
import { type Program, TrellisError, openDatabase } from '../engine/index.js';
import type { Config } from '../server/config.js';
import { databaseOptions } from '../server/database-options.js';
import { statusOf } from '../server/http-error.js';
import type { ParameterType } from './corpus-project.js';

export interface RunCounts {
  calls: number;
  answered: number;
  /** Calls refused as the caller's fault, by code. */
  refused: Map<string, number>;
  /** `query: code` of every answer that would be a 5xx. */
  faults: string[];
  /** Queries that were answered with 200 at least once. */
  worked: Set<string>;
}

const rounds = 4;
const dimensions = 8;
const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const strayId = '00000000-0000-7000-8000-000000000000';
const words = ['alice', 'bob', 'fern', 'rose', 'a longer text of several words', ''];

/** Ids seen in answers, by the name of the query that gave them. */
class Generator {
  readonly ids: string[] = [];
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
        return this.pick(words);
      case 'Boolean':
        return this.pick([true, false]);
      case 'Date':
        return this.pick(['2026-03-01T08:00:00Z', '1999-12-31', 1_700_000_000]);
      case 'ID':
        return this.#below(8) === 0 || this.ids.length === 0 ? strayId : this.pick(this.ids);
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

export async function runQueries(config: Config, program: Program): Promise<RunCounts> {
  const options = databaseOptions(config, offline(program), () => {});
  const database = await openDatabase({
    ...options,
    workers: 0,
    embeddingModel: `hash:${dimensions}`,
    minFreeBytes: 0,
  });
  const counts: RunCounts = {
    calls: 0,
    answered: 0,
    refused: new Map(),
    faults: [],
    worked: new Set(),
  };
  const generator = new Generator();
  try {
    for (let round = 0; round < rounds; round++) {
      for (const { name, plan } of program.queries) {
        const given = plan.parameters.filter(({ optional }) => !optional || round % 2 === 0);
        const body = Object.fromEntries(given.map((p) => [p.name, generator.value(p.type)]));
        counts.calls++;
        try {
          const answer = await database.call(name, Buffer.from(JSON.stringify(body)));
          counts.answered++;
          counts.worked.add(name);
          for (const [id] of Buffer.from(answer).toString().matchAll(idPattern)) {
            if (generator.ids.length < 500) generator.ids.push(id);
          }
        } catch (error) {
          note(counts, name, error);
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
