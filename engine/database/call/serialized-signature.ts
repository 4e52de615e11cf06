// A program as its callers are told of it, on its way to the thread that prints: a small part of the bytes
// of the program itself, which holds every plan. Invariant: what is unpacked is what was packed.
import { deserialize, serialize } from 'node:v8';
import {
  type CallSignature,
  type ProgramSignature,
  type QuerySignature,
  signaturesOf,
} from '../../contract/signature.js';
import type { Schema } from '../../base/schema.js';
import type { Program } from '../../plan/program.js';
import { pack, unpack } from './serialize-plan.js';

type Column = 'name' | 'doc' | 'file' | 'mcp' | 'output';

/** A list for each member, in which what is one object for several queries stays one. */
interface Packed extends Record<Column, unknown[]> {
  /** Packed: they hold defaults. */
  schema: unknown;
  plans: unknown;
  /** Which of the plans. */
  plan: number[];
}

export function serializeSignatures(program: Program): Uint8Array {
  const { schema, queries } = signaturesOf(program);
  const plans = [...new Set(queries.map(({ plan }) => plan))];
  const places = new Map(plans.map((plan, at) => [plan, at]));
  const column = (name: Column): unknown[] => queries.map((query) => query[name]);
  const packed: Packed = {
    schema: pack(schema),
    plans: pack(plans),
    plan: queries.map(({ plan }) => places.get(plan)!),
    name: column('name'),
    doc: column('doc'),
    file: column('file'),
    mcp: column('mcp'),
    output: column('output'),
  };
  const bytes = serialize(packed);
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

export function unpackTold(bytes: Uint8Array): ProgramSignature {
  const packed = deserialize(bytes) as Packed;
  const plans = unpack<CallSignature[]>(packed.plans);
  const queries = packed.plan.map((plan, at) => {
    const [name, doc, file] = [packed.name[at], packed.doc[at], packed.file[at]];
    const [mcp, output] = [packed.mcp[at], packed.output[at]];
    return { name, doc, file, mcp, output, plan: plans[plan]! } as QuerySignature;
  });
  return { schema: unpack<Schema>(packed.schema), queries };
}
