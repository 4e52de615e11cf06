// What an editor asks about a place of a source, answered from the analysis of its project.
import {
  complete,
  type Completion,
  explain,
  formatSource,
  type Occurrence,
  type OutlineItem,
  printExplanation,
} from '../../engine/index.js';
import type { Position, Range } from './position.js';
import type { Project } from './project.js';

export interface Place {
  project: Project;
  path: string;
}
type Json = unknown;

const offsetOf = ({ project, path }: Place, position: Position): number =>
  project.places(path).offsetAt(position);

const nameAt = (place: Place, position: Position): Occurrence | undefined =>
  place.project.analysis.at(place.path, offsetOf(place, position));

const locationOf = ({ project }: Place, { file, span }: Occurrence): Json => ({
  uri: project.uriOf(file),
  range: project.places(file).range(span),
});

const code = (text: string): string => `\`\`\`helixql\n${text}\n\`\`\``;

export function hover(place: Place, position: Position): Json {
  const name = nameAt(place, position);
  if (name === undefined) return null;
  const { analysis } = place.project;
  const [declared] = name.declares ? [name] : analysis.definitions(name);
  const declaration = declared && analysis.declaration(declared);
  const detail = name.detail || declared?.detail || '';
  const parts: string[] = [];
  if (name.role === 'query') parts.push(...aboutQuery(place, name.name, declaration?.text ?? ''));
  else if (name.role === 'type' && declaration?.text) parts.push(code(declaration.text));
  else if (detail !== '') parts.push(code(`${name.name}: ${detail}`));
  else return null;
  if (declaration?.doc) parts.push(declaration.doc);
  const range = place.project.places(place.path).range(name.span);
  return { contents: { kind: 'markdown', value: parts.join('\n\n') }, range };
}

function aboutQuery({ project }: Place, name: string, text: string): string[] {
  const header = code(text.slice(0, text.indexOf('=>')).trim());
  const query = project.analysis.query(name);
  if (query === undefined) return [header];
  return [header, `\`\`\`text\n${printExplanation(explain(query.plan))}\n\`\`\``];
}

const completionKinds: Record<Completion['kind'], number> = {
  step: 2,
  function: 3,
  property: 10,
  variable: 6,
  type: 7,
  keyword: 14,
};

export function completions(place: Place, position: Position): Json {
  const { project, path } = place;
  const found = complete(project.sources, path, offsetOf(place, position), project.options);
  return found.map(({ label, kind, detail }, at) => ({
    label,
    kind: completionKinds[kind],
    // In the order in which they come: what belongs to the item first.
    sortText: String(at).padStart(4, '0'),
    ...(detail !== '' && { detail }),
  }));
}

export function definition(place: Place, position: Position): Json {
  const name = nameAt(place, position);
  if (name === undefined) return null;
  return place.project.analysis.definitions(name).map((each) => locationOf(place, each));
}

export function references(place: Place, position: Position, declarations: boolean): Json {
  const name = nameAt(place, position);
  if (name === undefined) return null;
  const all = place.project.analysis.references(name);
  return all
    .filter((each) => declarations || !each.declares)
    .map((each) => locationOf(place, each));
}

export function prepareRename(place: Place, position: Position): Json {
  const name = nameAt(place, position);
  if (name === undefined || name.targets.length === 0) return null;
  return { range: place.project.places(place.path).range(name.span), placeholder: name.name };
}

/** `{name}` in an object is a variable and a member: the one that keeps its name is written out. */
export function rename(place: Place, position: Position, newName: string): Json {
  const name = nameAt(place, position);
  if (name === undefined || name.targets.length === 0) return null;
  if (!/^[A-Za-z]\w*$/.test(newName)) return null;
  const { project } = place;
  const { analysis } = project;
  const changes: Record<string, { range: Range; newText: string }[]> = {};
  const change = ({ file, span }: Occurrence, newText: string): void => {
    (changes[project.uriOf(file)] ??= []).push({
      range: project.places(file).range(span),
      newText,
    });
  };
  for (const each of analysis.references(name))
    change(each, each.member === undefined ? newName : `${each.name}: ${newName}`);
  for (const each of analysis.paths.flatMap((path) => analysis.occurrences(path)))
    if (each.member?.some((target) => name.targets.includes(target)))
      change(each, `${newName}: ${each.name}`);
  return { changes };
}

const symbolKinds: Record<OutlineItem['kind'], number> = {
  node: 5,
  edge: 11,
  vector: 23,
  query: 12,
  version: 3,
  migration: 3,
};

export function documentSymbols({ project, path }: Place): Json {
  const places = project.places(path);
  return project.analysis.outline(path).map(({ name, kind, at, whole, fields }) => ({
    name,
    detail: kind,
    kind: symbolKinds[kind],
    range: places.range(whole),
    selectionRange: places.range(at),
    children: fields.map((field) => ({
      name: field.name,
      kind: 8,
      range: places.range(field.whole),
      selectionRange: places.range(field.at),
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
          location: { uri: project.uriOf(path), range: project.places(path).range(at) },
        })),
    ),
  );
}

export function folding({ project, path }: Place): Json {
  const places = project.places(path);
  return project.analysis.outline(path).flatMap(({ whole }) => {
    const { start, end } = places.range(whole);
    return end.line > start.line ? [{ startLine: start.line, endLine: end.line }] : [];
  });
}

/** A file that cannot be read stays as it is. */
export function formatting({ project, path }: Place): Json {
  const places = project.places(path);
  const done = formatSource(path, places.text, project.options.limits);
  if (!('text' in done) || done.text === places.text) return [];
  return [{ range: places.whole, newText: done.text }];
}

export const tokenTypes = [
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
export const tokenModifiers = ['declaration'] as const;

/** Five numbers a name, each place counted from the one before. */
export function semanticTokens({ project, path }: Place): Json {
  const places = project.places(path);
  const data: number[] = [];
  let [line, character] = [0, 0];
  for (const { span, role, declares } of project.analysis.occurrences(path)) {
    const at = places.positionAt(span.start);
    const isSame = at.line === line;
    data.push(at.line - line, isSame ? at.character - character : at.character);
    data.push(span.end - span.start, tokenTypes.indexOf(tokenTypeOf[role]), declares ? 1 : 0);
    [line, character] = [at.line, at.character];
  }
  return { data };
}

/** Types of variables where they are bound. */
export function inlayHints({ project, path }: Place): Json {
  const places = project.places(path);
  return project.analysis
    .occurrences(path)
    .filter(({ role, declares, detail }) => role === 'variable' && declares && detail !== '')
    .map(({ span, detail }) => ({
      position: places.positionAt(span.end),
      label: `: ${detail}`,
      kind: 1,
    }));
}

interface EditorDiagnostic {
  range: Range;
  message: string;
}

/** What a hint says to write instead. */
export function codeActions(uri: string, diagnostics: readonly EditorDiagnostic[]): Json {
  return diagnostics.flatMap((diagnostic) => {
    const newText = /Did you mean `([^`]+)`\?/.exec(diagnostic.message)?.[1];
    if (newText === undefined) return [];
    const edit = { changes: { [uri]: [{ range: diagnostic.range, newText }] } };
    const title = `Change to \`${newText}\``;
    return [{ title, kind: 'quickfix', diagnostics: [diagnostic], edit, isPreferred: true }];
  });
}

/** The diagnostics of a file as editors take them. */
export function diagnosticsOf({ project, path }: Place): Json[] {
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
