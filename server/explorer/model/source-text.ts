// Reads HelixQL sources for display: where names are declared, the text of one query, and the colors of
// words. The compiler decides the meaning. Pure.

interface File {
  path: string;
  text: string;
}

export interface Token {
  kind: 'comment' | 'text' | 'number' | 'keyword' | 'type' | 'step' | 'plain';
  text: string;
}

const wordForm =
  /(?<comment>\/\/[^\n]*)|(?<text>"(?:[^"\\\n]|\\.)*"?)|(?<number>\b\d+(?:\.\d+)?\b)|(?<word>#?\w+)|[^\w"/]+|\//g;
const keywords = new Set(
  'QUERY RETURN FOR IN DROP MIGRATION From To Properties INDEX UNIQUE SEARCH DEFAULT NOW NONE true false'.split(
    ' ',
  ),
);

export function tokensOf(line: string, types: ReadonlySet<string>): Token[] {
  return [...line.matchAll(wordForm)].map((match): Token => {
    const { comment, text, number, word } = match.groups!;
    const kind = comment
      ? 'comment'
      : text
        ? 'text'
        : number
          ? 'number'
          : word && keywords.has(word)
            ? 'keyword'
            : word && types.has(word)
              ? 'type'
              : word && /^[A-Z][A-Za-z0-9]+$/.test(word)
                ? 'step'
                : 'plain';
    return { kind, text: match[0] };
  });
}

/** Returns the names that a set of files declares, and their positions. */
export function declarationsIn(
  files: readonly File[],
): Map<string, { path: string; line: number }> {
  const found = new Map<string, { path: string; line: number }>();
  for (const { path, text } of files) {
    for (const [at, line] of text.split('\n').entries()) {
      const [, name] = /^\s*(?:[NEV]::|QUERY\s+)(\w+)/.exec(line) ?? [];
      if (name !== undefined && !found.has(name)) found.set(name, { path, line: at + 1 });
    }
  }
  return found;
}

/** Returns a query with the comment above it, up to the next declaration. */
export function textOfQuery(
  files: readonly File[],
  name: string,
): { path: string; line: number; text: string } | undefined {
  const declaration = declarationsIn(files).get(name);
  const file = files.find(({ path }) => path === declaration?.path);
  if (declaration === undefined || file === undefined) return undefined;
  const lines = file.text.split('\n');
  let start = declaration.line - 1;
  while (start > 0 && /^\s*(\/\/|#\[)/.test(lines[start - 1]!)) start--;
  let end = declaration.line;
  while (end < lines.length && !/^\s*(QUERY\s|[NEV]::\w+[^:]*\{|#\[)/.test(lines[end]!)) end++;
  while (end > declaration.line && /^\s*(\/\/.*)?$/.test(lines[end - 1]!)) end--;
  return { path: declaration.path, line: start + 1, text: lines.slice(start, end).join('\n') };
}
