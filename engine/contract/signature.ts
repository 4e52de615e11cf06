// Signatures of a program's queries: their parameters and results, without their plans. Plain data.
// Invariant: equal parts of any number of queries are one object, so that they are serialized and printed
// once. The printed text equals that of the program.
import type { Schema } from '../base/schema.js';
import type { OutputMember, OutputType, ReplyType } from '../plan/output-type.js';
import type { Plan, Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import { type Bound, findBounds } from './query-facts.js';

export interface CallSignature extends Pick<Plan, 'parameters' | 'writes' | 'cost'> {
  /** Bounds of parameters that steps require. */
  bounds: ReadonlyMap<string, Bound>;
}

export interface QuerySignature extends Pick<Query, 'name' | 'doc' | 'file' | 'mcp' | 'output'> {
  plan: CallSignature;
}

export interface ProgramSignature {
  schema: Schema;
  queries: readonly QuerySignature[];
}

/** Programs and signatures: both can be printed. */
export interface HasSignatures {
  schema: Schema;
  queries: readonly (Query | QuerySignature)[];
}

export function buildSignatures({ schema, queries }: Program): ProgramSignature {
  const parts = new Parts();
  const signatures = queries.map(
    ({ name, doc, file, mcp, output, plan }): QuerySignature => ({
      name,
      doc,
      file,
      mcp,
      output: parts.reply(output),
      plan: parts.plan(plan),
    }),
  );
  return { schema, queries: signatures };
}

interface SharedPart {
  part: unknown;
  number: number;
}

/** Returns the first of equal parts. The key of a part is its own text and the numbers of its parts. */
class Parts {
  readonly #parts = new Map<string, SharedPart>();

  plan(plan: Plan): CallSignature {
    const { parameters, writes, cost } = plan;
    const bounds = findBounds(plan);
    const key = JSON.stringify(['plan', writes, cost, [...bounds], parameters], withWide);
    return this.#keep(key, () => ({ parameters, writes, cost, bounds })).part as CallSignature;
  }

  reply(type: ReplyType): ReplyType {
    if ('bare' in type) return { bare: this.#type(type.bare).part as OutputType };
    return this.#members('reply', type.members, (members) => ({ members })).part as ReplyType;
  }

  #type(type: OutputType): SharedPart {
    switch (type.kind) {
      case 'scalar':
        return this.#keep(type.name, () => type);
      case 'unknown':
        return this.#keep('unknown', () => type);
      case 'element':
        return this.#keep(JSON.stringify(type), () => type);
      case 'literal':
        return this.#keep(JSON.stringify([typeof type.value, type], withWide), () => type);
      case 'record':
        return this.#members('record', type.members, (members) => ({ ...type, members }));
      case 'union': {
        const parts = type.of.map((one) => this.#type(one));
        const of = parts.map(({ part }) => part);
        return this.#keep(`union ${parts.map(({ number }) => number)}`, () => ({ ...type, of }));
      }
      default: {
        const { part, number } = this.#type(type.of);
        return this.#keep(`${type.kind} ${number}`, () => ({ ...type, of: part }));
      }
    }
  }

  #members(
    kind: string,
    members: readonly OutputMember[],
    make: (of: unknown[]) => object,
  ): SharedPart {
    let key = kind;
    const types = members.map(({ name, type, optional }) => {
      const { part, number } = this.#type(type);
      key += ` ${number}${optional ? '?' : ':'}${JSON.stringify(name)}`;
      return part;
    });
    return this.#keep(key, () => make(members.map((one, at) => ({ ...one, type: types[at] }))));
  }

  #keep(key: string, make: () => unknown): SharedPart {
    const present = this.#parts.get(key);
    if (present !== undefined) return present;
    const shared: SharedPart = { part: make(), number: this.#parts.size };
    this.#parts.set(key, shared);
    return shared;
  }
}

const withWide = (_: string, part: unknown): unknown =>
  typeof part === 'bigint' ? `${part}n` : part;
