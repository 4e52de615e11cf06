// Compiles beside the thread that serves. Small sources are compiled where they are, sooner than a thread is
// there; large ones in a thread that ends when nobody has asked for a while. Invariants: what waits is
// bounded, and every caller gets an answer, whatever happens to the thread.
import { fail } from '../../base/errors.js';
import { TaskThread } from '../../system/task-thread.js';
import type { Limits } from '../../base/limits.js';
import type { AdHocCompilation } from '../../lang/ad-hoc.js';
import { type Compilation, compile, type Source } from '../../lang/compile.js';
import type { Program } from '../../plan/program.js';
import { unpack } from '../call/serialize-plan.js';
import { headOf, packProgram, unpackInTurns } from '../call/serialized-program.js';
import type { AdHocReport, AdHocTask, CompileReport, CompileTask, Task } from './compile-task.js';
import { type DocumentReport, type DocumentTask, documentOf } from './openapi-task.js';

/** Bytes of sources that take a few milliseconds. */
const smallBytes = 16 * 1024;
const idleMs = 10_000;

export interface CompilerOptions {
  /** Calls that may be there at once, the one that runs included. */
  most: number;
  /** Time that one may take, of its turn in the queue and of its own; undefined: any. */
  budgetMs?: number;
  heapMb: number;
}

type Options = CompileTask['options'];

export class Compiler {
  readonly #thread: TaskThread;
  #pending = 0;

  constructor(private readonly options: CompilerOptions) {
    const entry = new URL('./compile-thread.cjs', import.meta.url).href;
    this.#thread = new TaskThread({ entry, idleMs, heapMb: options.heapMb });
  }

  /** Fails OVERLOADED, QUERY_TIMEOUT. */
  async compile(sources: readonly Source[], options: Options): Promise<Compilation> {
    if (sizeOf(sources) <= smallBytes) return compile(sources, options);
    const { program, diagnostics } = await this.#run({ sources, options, headOnly: false });
    return { program: program && (await unpackInTurns(program)), diagnostics };
  }

  /** The same without the queries. */
  async check(sources: readonly Source[], options: Options): Promise<Compilation> {
    if (sizeOf(sources) <= smallBytes) return compile(sources, options);
    const { program, diagnostics } = await this.#run({ sources, options, headOnly: true });
    return { program: program && { ...headOf(program), queries: [] }, diagnostics };
  }

  /** A query that comes with its call. */
  async adHoc(text: string, program: Program, limits: Limits): Promise<AdHocCompilation> {
    const task: AdHocTask = { text, program: packProgram(program), limits };
    const { query, diagnostics } = await this.#run<AdHocReport>(task);
    return { query: unpack<AdHocCompilation['query']>(query), diagnostics };
  }

  /** A program as an OpenAPI document; of few queries at once. */
  document(
    program: Program,
    about: DocumentTask['about'],
    seen: DocumentTask['seen'],
  ): DocumentReport | Promise<DocumentReport> {
    const { told } = packProgram(program);
    if (told === undefined) return documentOf(program, about, seen);
    return this.#run<DocumentReport>({ about, seen, told });
  }

  async #run<R = CompileReport>(task: Task): Promise<R> {
    const { most, budgetMs } = this.options;
    if (this.#pending >= most) fail('OVERLOADED', { queue: 'The queue of the compiler' });
    this.#pending++;
    const late = budgetMs === undefined ? {} : { signal: AbortSignal.timeout(budgetMs) };
    try {
      return await this.#thread.run<R>(task, late);
    } catch (error) {
      return explain(error, budgetMs);
    } finally {
      this.#pending--;
    }
  }
}

function sizeOf(sources: readonly Source[]): number {
  return sources.reduce((sum, { text }) => sum + text.length, 0);
}

/** What became of the thread, said to whoever waits for it. */
function explain(error: unknown, budgetMs: number | undefined): never {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') {
    fail('QUERY_TIMEOUT', { ms: budgetMs! }, { hint: 'Check fewer sources at a time.' });
  }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') fail('OVERLOADED', { queue: 'The compiler’s memory' });
  throw error;
}

/** Programs of this process, which take their turns; of each database at most one is being made. */
export const programCompiler = /* @__PURE__ */ new Compiler({
  most: 64,
  heapMb: 2048,
});
/** What callers ask about their sources: it keeps no program waiting. */
export const checkCompiler = /* @__PURE__ */ new Compiler({
  most: 8,
  budgetMs: 30_000,
  heapMb: 1024,
});
