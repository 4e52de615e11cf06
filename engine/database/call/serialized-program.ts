// A program on its way to other threads: bytes in shared memory, written once and copied for nobody, in
// pieces, so that a lane takes up the queries that it is asked for, and a thread that must not stand still
// takes all of them up in turns. Invariant: what is unpacked is what was packed, in its order.
import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { Query } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import { pack, unpack } from './serialize-plan.js';
import { serializeSignatures } from './serialized-signature.js';

/** The first piece holds all but the queries, each other one `pieceQueries` of them. */
export interface PackedProgram {
  bytes: SharedArrayBuffer;
  /** Where each piece ends. */
  ends: readonly number[];
  /** The program as its callers are told of it; of few queries made when they ask. */
  told?: Uint8Array | undefined;
}

/** All but the queries. */
export type ProgramHead = Omit<Program, 'queries'>;

/** What callers are told of fewer takes a few milliseconds. */
const fewQueries = 100;
/** More make smaller bytes, fewer a shorter first call. */
const pieceQueries = 16;
/** A thread that serves others does not unpack for longer at a time. */
const turnMs = 4;

/** No program is packed twice, nor one that came packed. */
const known = new WeakMap<Program, PackedProgram>();

export function packProgram(program: Program): PackedProgram {
  const present = known.get(program);
  if (present !== undefined) return present;
  const { queries, ...head } = program;
  const pieces = [serialize(pack(head))];
  for (let at = 0; at < queries.length; at += pieceQueries)
    pieces.push(serialize(pack(queries.slice(at, at + pieceQueries))));
  let end = 0;
  const ends = pieces.map((piece) => (end += piece.length));
  const bytes = new SharedArrayBuffer(end);
  const all = new Uint8Array(bytes);
  for (const [at, piece] of pieces.entries()) all.set(piece, ends[at]! - piece.length);
  const told = queries.length > fewQueries ? serializeSignatures(program) : undefined;
  const packed = { bytes, ends, told };
  known.set(program, packed);
  return packed;
}

function piece({ bytes, ends }: PackedProgram, at: number): unknown {
  const start = at === 0 ? 0 : ends[at - 1]!;
  return unpack(deserialize(new Uint8Array(bytes, start, ends[at]! - start)));
}

export const headOf = (packed: PackedProgram): ProgramHead => piece(packed, 0) as ProgramHead;

/** The queries of a packed program by their places, unpacked when they are asked for. */
export class PackedQueries {
  readonly #pieces: (readonly Query[])[] = [];

  constructor(private readonly packed: PackedProgram) {}

  at(place: number): Query | undefined {
    const at = Math.floor(place / pieceQueries) + 1;
    if (at >= this.packed.ends.length) return undefined;
    this.#pieces[at] ??= piece(this.packed, at) as Query[];
    return this.#pieces[at][place % pieceQueries];
  }
}

/** The whole program; whoever else uses this thread has turns meanwhile. */
export async function unpackInTurns(packed: PackedProgram): Promise<Program> {
  const queries: Query[] = [];
  let until = performance.now() + turnMs;
  for (let at = 1; at < packed.ends.length; at++) {
    queries.push(...(piece(packed, at) as Query[]));
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + turnMs;
  }
  const { schema, olderSchemas, migrations, compat } = headOf(packed);
  const program: Program = { schema, olderSchemas, migrations, queries, compat };
  known.set(program, packed);
  return program;
}
