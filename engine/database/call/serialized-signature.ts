// Serializes the signatures of a program for the thread that prints them. They are a small part of the
// program, which contains every plan.
// Invariant: unpacking returns what was packed.
import { deserialize, serialize } from 'node:v8';
import {
  type CallSignature,
  type ProgramSignature,
  type QuerySignature,
  buildSignatures,
} from '../../contract/signature.js';
import type { Schema } from '../../base/schema.js';
import type { Program } from '../../plan/program.js';
import { pack, unpack } from './serialize-plan.js';

type Column = 'name' | 'doc' | 'file' | 'mcp' | 'output';

/** One column per member. An object that several queries share stays one object. */
interface Packed extends Record<Column, unknown[]> {
  /** Packed, because the schema contains default values. */
  schema: unknown;
  plans: unknown;
  /** Index of the signature of each query. */
  plan: number[];
}

export function serializeSignatures(program: Program): Uint8Array {
  const { schema, queries } = buildSignatures(program);
  const plans = [...new Set(queries.map(({ plan }) => plan))];
  const indexes = new Map(plans.map((plan, at) => [plan, at]));
  const column = (name: Column): unknown[] => queries.map((query) => query[name]);
  const packed: Packed = {
    schema: pack(schema),
    plans: pack(plans),
    plan: queries.map(({ plan }) => indexes.get(plan)!),
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

export function deserializeSignatures(bytes: Uint8Array): ProgramSignature {
  const packed = deserialize(bytes) as Packed;
  const plans = unpack<CallSignature[]>(packed.plans);
  const queries = packed.plan.map((plan, at) => {
    const [name, doc, file] = [packed.name[at], packed.doc[at], packed.file[at]];
    const [mcp, output] = [packed.mcp[at], packed.output[at]];
    return { name, doc, file, mcp, output, plan: plans[plan]! } as QuerySignature;
  });
  return { schema: unpack<Schema>(packed.schema), queries };
}
