// Compiles without blocking the serving thread. Small sources are compiled on the calling thread, faster than
// a thread could start. Large ones are compiled on a thread that ends when it is idle.
// Invariant: the queue is bounded, and every caller gets a result, whatever happens to the thread.
import { fail } from '../../base/errors.js';
import { TaskThread } from '../../system/task-thread.js';
import type { Limits } from '../../base/limits.js';
import type { AdHocCompilation } from '../../lang/compile-ad-hoc.js';
import { type Compilation, compile, type Source } from '../../lang/compile.js';
import type { Program } from '../../plan/program.js';
import { unpack } from '../call/serialize-plan.js';
import { headOf, packProgram, unpackInSlices } from '../call/serialized-program.js';
import type { AdHocReport, AdHocTask, CompileReport, CompileTask, Task } from './compile-task.js';
import { type DocumentReport, type DocumentTask, documentOf } from './openapi-task.js';

/** Bytes of sources that compile in a few milliseconds. */
const smallBytes = 16 * 1024;
const idleMs = 10_000;

export interface CompilerOptions {
  /** Maximum number of calls, including the running one. */
  max: number;
  /** Maximum milliseconds of one call, including its time in the queue. Undefined: unlimited. */
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
    return { program: program && (await unpackInSlices(program)), diagnostics };
  }

  /** Compiles without the queries. */
  async check(sources: readonly Source[], options: Options): Promise<Compilation> {
    if (sizeOf(sources) <= smallBytes) return compile(sources, options);
    const { program, diagnostics } = await this.#run({ sources, options, headOnly: true });
    return { program: program && { ...headOf(program), queries: [] }, diagnostics };
  }

  /** Compiles an ad hoc query. */
  async adHoc(text: string, program: Program, limits: Limits): Promise<AdHocCompilation> {
    const task: AdHocTask = { text, program: packProgram(program), limits };
    const { query, diagnostics } = await this.#run<AdHocReport>(task);
    return { query: unpack<AdHocCompilation['query']>(query), diagnostics };
  }

  /** Returns the OpenAPI document of a program; synchronously when it has few queries. */
  document(
    program: Program,
    about: DocumentTask['about'],
    seen: DocumentTask['seen'],
  ): DocumentReport | Promise<DocumentReport> {
    const { signatures } = packProgram(program);
    if (signatures === undefined) return documentOf(program, about, seen);
    return this.#run<DocumentReport>({ about, seen, signatures });
  }

  async #run<R = CompileReport>(task: Task): Promise<R> {
    const { max, budgetMs } = this.options;
    if (this.#pending >= max) fail('OVERLOADED', { queue: 'The queue of the compiler' });
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

/** Fails with the reason why the thread gave no result. */
function explain(error: unknown, budgetMs: number | undefined): never {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') {
    fail('QUERY_TIMEOUT', { ms: budgetMs! }, { hint: 'Check fewer sources at a time.' });
  }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') fail('OVERLOADED', { queue: 'The compiler’s memory' });
  throw error;
}

/** Compiles the programs of this process, one after another. Each database compiles at most one at a time. */
export const programCompiler = /* @__PURE__ */ new Compiler({
  max: 64,
  heapMb: 2048,
});
/** Compiles sources for checks that clients request. Programs do not wait for them. */
export const checkCompiler = /* @__PURE__ */ new Compiler({
  max: 8,
  budgetMs: 30_000,
  heapMb: 1024,
});
