// Mutates sources: cuts, duplicates and swaps parts of a valid project of the corpus. Checks the output of
// the compiler for each: no crash, linear time, existing positions.
import { compile, type Source } from '../../engine/lang/compile.js';
import type { Diagnostic } from '../../engine/lang/syntax/diagnostic.js';
import type { Program } from '../../engine/plan/program.js';
import { caseFiles, readCases } from './corpus/case.js';
import { Random } from './random.js';

export interface Project {
  schema: string;
  queries: string;
}

/** Schemas and queries of every case of the language, each project once. */
export function corpusProjects(): Project[] {
  const cases = caseFiles('language').flatMap((file) => readCases(file));
  const projects = cases
    .map(({ schema, queries }) => ({ schema, queries }))
    .filter(({ queries }) => queries.trim() !== '');
  return [...new Map(projects.map((project) => [project.queries, project])).values()];
}

const token = /[A-Za-z_][A-Za-z0-9_]*|"[^"]*"|-?[0-9.]+|::|<-|=>|\s+|./g;
const oddities = [
  '\0',
  '"',
  '/*',
  '\\',
  '::',
  '{',
  '(',
  '[',
  '}',
  ')',
  ']',
  '_',
  '..',
  '|',
  '#[mcp]',
  '-',
  '1e999',
  '\u{1f600}',
  '\ud800',
  '\r',
];
const tokensOf = (text: string): string[] => text.match(token) ?? [];

export class Mutator {
  readonly #projects: readonly Project[];
  readonly #words: readonly string[];

  constructor(projects: readonly Project[]) {
    this.#projects = projects;
    const all = projects.flatMap(({ schema, queries }) => [schema, queries]);
    this.#words = [...new Set(all.flatMap(tokensOf))];
  }

  /** The project of a seed: its query mutated, and sometimes its schema. */
  sources(seed: number): { sources: Source[]; compat: boolean } {
    const random = new Random(seed);
    const { schema, queries } = random.pick(this.#projects);
    const list = queries.split(/(?=^QUERY|^#\[)/m);
    const own = random.chance(0.5) ? random.pick(list) : queries;
    const sources = [
      { path: 'a.hx', text: random.chance(0.25) ? this.#mutate(schema, random) : schema },
      { path: 'b.hx', text: this.#mutate(own, random) },
    ];
    return { sources, compat: random.chance(0.5) };
  }

  #mutate(text: string, random: Random): string {
    const parts = tokensOf(text);
    for (let i = random.chance(0.5) ? 1 : 1 + random.below(4); i > 0; i--) {
      const at = random.below(parts.length + 1);
      switch (random.below(8)) {
        case 0:
          parts.splice(at, 1);
          break;
        case 1:
          parts.splice(at, 0, random.pick(this.#words));
          break;
        case 2:
          parts[at] = random.pick(this.#words);
          break;
        case 3:
          parts.splice(at, 0, random.pick(oddities));
          break;
        case 4:
          parts.splice(at, 0, ...parts.slice(at, at + random.below(12)));
          break;
        case 5:
          parts.splice(at, random.below(8));
          break;
        case 6:
          parts.length = at;
          break;
        default:
          parts.splice(at, 0, ...this.#excerpt(random));
      }
    }
    return parts.join('');
  }

  #excerpt(random: Random): string[] {
    const { schema, queries } = random.pick(this.#projects);
    const parts = tokensOf(random.chance(0.2) ? schema : queries);
    const at = random.below(parts.length);
    return parts.slice(at, at + random.below(15));
  }
}

/** Processor time, so that a busy machine does not fail a test. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export interface Verdict {
  /** What must not be, if anything. */
  fault: string | undefined;
  program: Program | undefined;
  cpuMs: number;
}

/** Compiles the sources and judges what came of it. */
export function judge(sources: readonly Source[], compat: boolean): Verdict {
  const start = cpuMs();
  const { program, diagnostics } = compile(sources, { compat });
  const spent = cpuMs() - start;
  const texts = new Map(sources.map(({ path, text }) => [path, String(text).split(/\r\n?|\n/)]));
  const isRefused = diagnostics.some(({ severity }) => severity === 'error');
  let fault: string | undefined;
  if (spent > 1000) fault = `it took ${spent} ms`;
  else if ((program === undefined) !== isRefused)
    fault = 'refused without an error, or the reverse';
  else {
    const wrong = diagnostics.find((diagnostic) => !isPlaced(diagnostic, texts));
    if (wrong !== undefined) fault = JSON.stringify(wrong);
  }
  return { fault, program, cpuMs: spent };
}

/** Checks that a diagnostic has a text, and a position that exists and ends after it begins. */
function isPlaced(d: Diagnostic, texts: ReadonlyMap<string, string[]>): boolean {
  const lines = texts.get(d.file) ?? [];
  const isIn = (line: number, column: number) =>
    lines[line - 1] !== undefined && column >= 1 && column <= lines[line - 1]!.length + 1;
  const isAfter = d.endLine > d.line || (d.endLine === d.line && d.endColumn >= d.column);
  const places = isIn(d.line, d.column) && isIn(d.endLine, d.endColumn) && isAfter;
  return places && d.code !== 'E655' && d.message.length > 0;
}
