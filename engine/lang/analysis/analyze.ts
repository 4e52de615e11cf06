// Answers questions about positions in sources: which name is there, what it means, where it is declared and
// used. Pure; each state of the sources is analyzed again. The diagnostics are those of `compile`.
import type { Limits } from '../../base/limits.js';
import type { Query } from '../../plan/plan.js';
import { type CompileOptions, type ReadSource, type Source, compile } from '../compile.js';
import type { CompileCache } from '../compile-cache.js';
import type { Diagnostic } from '../syntax/diagnostic.js';
import { SemanticModel } from '../type/semantic-model.js';
import type { SchemaIndex } from '../type/schema-index.js';
import { type Occurrence, OccurrenceWalk } from './occurrence.js';
import { commentAbove, type OutlineItem, buildOutline } from './outline.js';
import { typeKey } from './symbol-key.js';

export interface AnalyzeOptions {
  compat: boolean;
  limits?: Limits;
  /** Results of earlier states of the sources. */
  memo?: CompileCache;
}

/** Results of compiling one state of the sources. */
export interface Findings {
  diagnostics: Diagnostic[];
  sources: readonly ReadSource[];
  schema: SchemaIndex;
  queries: readonly Query[];
  facts: SemanticModel;
}

export function collectFindings(
  sources: readonly Source[],
  options: AnalyzeOptions & Pick<CompileOptions, 'only' | 'literal'>,
): Findings {
  const facts = new SemanticModel();
  let found: Pick<Findings, 'sources' | 'schema' | 'queries'> | undefined;
  const watch = {
    facts,
    read: (read: readonly ReadSource[], schema: SchemaIndex, queries: readonly Query[]) => {
      found = { sources: read, schema, queries };
    },
  };
  const { diagnostics } = compile(sources, { ...options, watch });
  return { diagnostics, facts, ...found! };
}

export class Analysis {
  readonly diagnostics: Diagnostic[];
  readonly #findings: Findings;
  readonly #occurrences = new Map<string, Occurrence[]>();
  readonly #outlines = new Map<string, OutlineItem[]>();

  constructor(findings: Findings) {
    this.#findings = findings;
    this.diagnostics = findings.diagnostics;
    const declared = new Set(
      findings.sources.flatMap(({ tree }) =>
        tree.types.map(({ declaration: { kind, name } }) => typeKey(kind, name.text)),
      ),
    );
    for (const { file, tree } of findings.sources) {
      const walk = new OccurrenceWalk(file, findings.facts, declared);
      this.#occurrences.set(file.path, walk.run(tree));
      this.#outlines.set(file.path, buildOutline(file, tree));
    }
  }

  /** Returns every name of a file, in order. */
  occurrences(path: string): readonly Occurrence[] {
    return this.#occurrences.get(path) ?? [];
  }

  outline(path: string): readonly OutlineItem[] {
    return this.#outlines.get(path) ?? [];
  }

  get paths(): string[] {
    return [...this.#outlines.keys()];
  }

  /**
   * Returns the name at an offset. The end of a name counts as part of it, because the cursor is after the
   * typed text.
   */
  at(path: string, offset: number): Occurrence | undefined {
    return this.occurrences(path).find(({ span }) => span.start <= offset && offset <= span.end);
  }

  definitions({ targets }: Occurrence): Occurrence[] {
    return this.#all((other) => other.declares && sharesOne(targets, other.targets));
  }

  /** Returns every occurrence of the same symbol, including its declarations. */
  references({ targets }: Occurrence): Occurrence[] {
    return this.#all((other) => sharesOne(targets, other.targets));
  }

  #all(matches: (occurrence: Occurrence) => boolean): Occurrence[] {
    return [...this.#occurrences.values()].flatMap((list) => list.filter(matches));
  }

  query(name: string): Query | undefined {
    return this.#findings.queries.find((query) => query.name === name);
  }

  /**
   * Returns the source text of the declaration of a type or query, and the comment above it; undefined for
   * other symbols.
   */
  declaration({ file: path, span }: Occurrence): { text: string; doc: string } | undefined {
    const file = this.#findings.sources.find((source) => source.file.path === path)?.file;
    const items = this.outline(path);
    const item = items.find(({ at }) => at.start === span.start);
    if (file === undefined) return undefined;
    if (item !== undefined) {
      const { start, end } = item.whole;
      return { text: file.text.slice(start, end), doc: commentAbove(file, start) };
    }
    return { text: '', doc: commentAbove(file, span.start) };
  }
}

const sharesOne = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((each) => others.includes(each));

export function analyze(sources: readonly Source[], options: AnalyzeOptions): Analysis {
  return new Analysis(collectFindings(sources, options));
}
