// Answers requests of an editor about the name at a position, from the analysis of its project.
import {
  complete,
  type Completion,
  explain,
  type Occurrence,
  printExplanation,
} from '../../engine/internal.js';
import type { Position, Range } from './position.js';
import type { DocumentFile } from './project.js';

type Json = unknown;

const offsetOf = ({ project, path }: DocumentFile, position: Position): number =>
  project.positions(path).offsetAt(position);

const nameAt = (document: DocumentFile, position: Position): Occurrence | undefined =>
  document.project.analysis.at(document.path, offsetOf(document, position));

const locationOf = ({ project }: DocumentFile, { file, span }: Occurrence): Json => ({
  uri: project.uriOf(file),
  range: project.positions(file).range(span),
});

const code = (text: string): string => `\`\`\`helixql\n${text}\n\`\`\``;

export function hover(document: DocumentFile, position: Position): Json {
  const name = nameAt(document, position);
  if (name === undefined) return null;
  const { analysis } = document.project;
  const [declared] = name.declares ? [name] : analysis.definitions(name);
  const declaration = declared && analysis.declaration(declared);
  const detail = name.detail || declared?.detail || '';
  const parts: string[] = [];
  if (name.role === 'query')
    parts.push(...aboutQuery(document, name.name, declaration?.text ?? ''));
  else if (name.role === 'type' && declaration?.text) parts.push(code(declaration.text));
  else if (detail !== '') parts.push(code(`${name.name}: ${detail}`));
  else return null;
  if (declaration?.doc) parts.push(declaration.doc);
  const range = document.project.positions(document.path).range(name.span);
  return { contents: { kind: 'markdown', value: parts.join('\n\n') }, range };
}

function aboutQuery({ project }: DocumentFile, name: string, text: string): string[] {
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

export function completions(document: DocumentFile, position: Position): Json {
  const { project, path } = document;
  const found = complete(project.sources, path, offsetOf(document, position), project.options);
  return found.map(({ label, kind, detail }, at) => ({
    label,
    kind: completionKinds[kind],
    // The order of the list: names that belong to the item come first.
    sortText: String(at).padStart(4, '0'),
    ...(detail !== '' && { detail }),
  }));
}

export function definition(document: DocumentFile, position: Position): Json {
  const name = nameAt(document, position);
  if (name === undefined) return null;
  return document.project.analysis.definitions(name).map((each) => locationOf(document, each));
}

export function references(
  document: DocumentFile,
  position: Position,
  declarations: boolean,
): Json {
  const name = nameAt(document, position);
  if (name === undefined) return null;
  const all = document.project.analysis.references(name);
  return all
    .filter((each) => declarations || !each.declares)
    .map((each) => locationOf(document, each));
}

export function prepareRename(document: DocumentFile, position: Position): Json {
  const name = nameAt(document, position);
  if (name === undefined || name.targets.length === 0) return null;
  return {
    range: document.project.positions(document.path).range(name.span),
    placeholder: name.name,
  };
}

/**
 * Renames a symbol. `{name}` in an object stands for a variable and a member; if one of them is renamed, the
 * edit writes `member: variable`.
 */
export function rename(document: DocumentFile, position: Position, newName: string): Json {
  const name = nameAt(document, position);
  if (name === undefined || name.targets.length === 0) return null;
  if (!/^[A-Za-z]\w*$/.test(newName)) return null;
  const { project } = document;
  const { analysis } = project;
  const changes: Record<string, { range: Range; newText: string }[]> = {};
  const change = ({ file, span }: Occurrence, newText: string): void => {
    (changes[project.uriOf(file)] ??= []).push({
      range: project.positions(file).range(span),
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
