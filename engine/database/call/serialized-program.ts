// Serializes a program into shared memory once, in chunks, without a copy per thread. A lane unpacks only the
// queries that it is asked for. A thread that must stay responsive unpacks all of them in slices.
// Invariant: unpacking returns what was packed, in the same order.
import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { Query } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import { pack, unpack } from './serialize-plan.js';
import { serializeSignatures } from './serialized-signature.js';

/** The first chunk holds everything except the queries. Each other chunk holds `chunkQueries` queries. */
export interface PackedProgram {
  bytes: SharedArrayBuffer;
  /** End offset of each chunk. */
  ends: readonly number[];
  /** Packed signatures of the queries. For small programs they are created on demand. */
  signatures?: Uint8Array | undefined;
}

/** A program without its queries. */
export type ProgramHead = Omit<Program, 'queries'>;

/** Number of queries below which the signatures take only a few milliseconds. */
const fewQueries = 100;
/** Queries per chunk. More make fewer bytes; fewer make a shorter first call. */
const chunkQueries = 16;
/** Maximum milliseconds of one slice on a thread that serves other work. */
const sliceMs = 4;

/** Packs each program only once, including programs that arrived packed. */
const known = new WeakMap<Program, PackedProgram>();

export function packProgram(program: Program): PackedProgram {
  const present = known.get(program);
  if (present !== undefined) return present;
  const { queries, ...head } = program;
  const chunks = [serialize(pack(head))];
  for (let at = 0; at < queries.length; at += chunkQueries)
    chunks.push(serialize(pack(queries.slice(at, at + chunkQueries))));
  let end = 0;
  const ends = chunks.map((chunk) => (end += chunk.length));
  const bytes = new SharedArrayBuffer(end);
  const all = new Uint8Array(bytes);
  for (const [at, chunk] of chunks.entries()) all.set(chunk, ends[at]! - chunk.length);
  const signatures = queries.length > fewQueries ? serializeSignatures(program) : undefined;
  const packed = { bytes, ends, signatures };
  known.set(program, packed);
  return packed;
}

function unpackChunk({ bytes, ends }: PackedProgram, at: number): unknown {
  const start = at === 0 ? 0 : ends[at - 1]!;
  return unpack(deserialize(new Uint8Array(bytes, start, ends[at]! - start)));
}

export const headOf = (packed: PackedProgram): ProgramHead => unpackChunk(packed, 0) as ProgramHead;

/** Queries of a packed program by index, unpacked on demand. */
export class PackedQueries {
  readonly #chunks: (readonly Query[])[] = [];

  constructor(private readonly packed: PackedProgram) {}

  at(index: number): Query | undefined {
    const at = Math.floor(index / chunkQueries) + 1;
    if (at >= this.packed.ends.length) return undefined;
    this.#chunks[at] ??= unpackChunk(this.packed, at) as Query[];
    return this.#chunks[at][index % chunkQueries];
  }
}

/** Unpacks the whole program in slices, so that other work on this thread continues. */
export async function unpackInSlices(packed: PackedProgram): Promise<Program> {
  const queries: Query[] = [];
  let until = performance.now() + sliceMs;
  for (let at = 1; at < packed.ends.length; at++) {
    queries.push(...(unpackChunk(packed, at) as Query[]));
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + sliceMs;
  }
  const { schema, olderSchemas, migrations, compat } = headOf(packed);
  const program: Program = { schema, olderSchemas, migrations, queries, compat };
  known.set(program, packed);
  return program;
}
