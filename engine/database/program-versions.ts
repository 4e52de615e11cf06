// Numbers the programs of an open database and keeps those that lanes may still run. Runs on the main thread.
// Invariant: a generation names one program. The number of a reload that failed is not used again.
import type { Program } from '../plan/program.js';
import type { ConfigureLane } from './lane/message.js';
import { generationsMax } from './call/query-table.js';
import { type PackedProgram, packProgram } from './call/serialized-program.js';

type EarlierProgram = NonNullable<ConfigureLane['earlier']>[number];

export class ProgramVersions {
  /** The current program, packed for lanes. */
  packed: PackedProgram;
  /** Number of the current program. */
  generation = 0;
  /** Number of the last reload that began. */
  #lastGeneration = 0;
  /** Earlier programs, as far back as lanes keep them. */
  readonly #earlier: EarlierProgram[] = [];

  constructor(program: Program) {
    this.packed = packProgram(program);
  }

  get earlier(): readonly EarlierProgram[] {
    return this.#earlier;
  }

  /** Returns the number of the next program. */
  begin(): number {
    return ++this.#lastGeneration;
  }

  /**
   * Makes a program the current one. Keeps the former one, of schema version `schema`, for lanes that start
   * later: they may still get calls of it.
   */
  replace(packed: PackedProgram, generation: number, schema: number): void {
    const former = { program: this.packed, generation: this.generation, schema };
    if (this.#earlier.push(former) > generationsMax) this.#earlier.shift();
    this.packed = packed;
    this.generation = generation;
  }
}
