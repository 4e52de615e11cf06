// Answers requests of an editor about a whole file, from the analysis of its project.
import { formatSource, type Occurrence, type OutlineItem } from '../../engine/internal.js';
import type { DocumentFile, Project } from './project.js';

type Json = unknown;

const symbolKinds: Record<OutlineItem['kind'], number> = {
  node: 5,
  edge: 11,
  vector: 23,
  query: 12,
  version: 3,
  migration: 3,
};

export function documentSymbols({ project, path }: DocumentFile): Json {
  const positions = project.positions(path);
  return project.analysis.outline(path).map(({ name, kind, at, whole: range, fields }) => ({
    name,
    detail: kind,
    kind: symbolKinds[kind],
    range: positions.range(range),
    selectionRange: positions.range(at),
    children: fields.map((field) => ({
      name: field.name,
      kind: 8,
      range: positions.range(field.whole),
      selectionRange: positions.range(field.at),
    })),
  }));
}

export function workspaceSymbols(projects: Iterable<Project>, query: string): Json {
  const wanted = query.toLowerCase();
  return [...projects].flatMap((project) =>
    project.analysis.paths.flatMap((path) =>
      project.analysis
        .outline(path)
        .filter(({ name }) => name.toLowerCase().includes(wanted))
        .map(({ name, kind, at }) => ({
          name,
          kind: symbolKinds[kind],
          location: { uri: project.uriOf(path), range: project.positions(path).range(at) },
        })),
    ),
  );
}

export function folding({ project, path }: DocumentFile): Json {
  const positions = project.positions(path);
  return project.analysis.outline(path).flatMap(({ whole: range }) => {
    const { start, end } = positions.range(range);
    return end.line > start.line ? [{ startLine: start.line, endLine: end.line }] : [];
  });
}

/** A file that cannot be read stays as it is. */
export function formatting({ project, path }: DocumentFile): Json {
  const positions = project.positions(path);
  const done = formatSource(path, positions.text, project.options.limits);
  if (!('text' in done) || done.text === positions.text) return [];
  return [{ range: positions.whole, newText: done.text }];
}

const tokenTypes = [
  'type',
  'property',
  'variable',
  'parameter',
  'function',
  'method',
  'macro',
] as const;
const tokenTypeOf: Record<Occurrence['role'], (typeof tokenTypes)[number]> = {
  type: 'type',
  property: 'property',
  variable: 'variable',
  parameter: 'parameter',
  query: 'function',
  function: 'function',
  step: 'method',
  macro: 'macro',
};
/** Meaning of the numbers of `semanticTokens`. */
export const tokenLegend = { tokenTypes, tokenModifiers: ['declaration'] };

/** Five numbers for each name. Each position is relative to the one before. */
export function semanticTokens({ project, path }: DocumentFile): Json {
  const positions = project.positions(path);
  const data: number[] = [];
  let [line, character] = [0, 0];
  for (const { span, role, declares } of project.analysis.occurrences(path)) {
    const at = positions.positionAt(span.start);
    const isSame = at.line === line;
    data.push(at.line - line, isSame ? at.character - character : at.character);
    data.push(span.end - span.start, tokenTypes.indexOf(tokenTypeOf[role]), declares ? 1 : 0);
    [line, character] = [at.line, at.character];
  }
  return { data };
}

/** Returns the types of variables at their bindings. */
export function inlayHints({ project, path }: DocumentFile): Json {
  const positions = project.positions(path);
  return project.analysis
    .occurrences(path)
    .filter(({ role, declares, detail }) => role === 'variable' && declares && detail !== '')
    .map(({ span, detail }) => ({
      position: positions.positionAt(span.end),
      label: `: ${detail}`,
      kind: 1,
    }));
}

/** Returns the diagnostics of a file in the form of the protocol. */
export function diagnosticsOf({ project, path }: DocumentFile): Json[] {
  return project.analysis.diagnostics
    .filter(({ file }) => file === path)
    .map(({ code: id, severity, line, column, endLine, endColumn, message, hint }) => ({
      range: {
        start: { line: line - 1, character: column - 1 },
        end: { line: endLine - 1, character: endColumn - 1 },
      },
      severity: severity === 'error' ? 1 : 2,
      code: id,
      source: 'trellis',
      message: hint === undefined ? message : `${message} ${hint}`,
    }));
}
