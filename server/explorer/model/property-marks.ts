// Reads from the sources what they declare for a property besides its type: unique, indexed, searched,
// its default. This is for display only; the compiler decides the meaning. Pure.

/** Marks such as `unique`, `index` and `= NOW`, by type and property. */
export type Marks = ReadonlyMap<string, ReadonlyMap<string, string[]>>;

const declarationForm = /\b[NEV]::(\w+)\s*\{/g;
const propertyForm =
  /((?:(?:UNIQUE|INDEX|SEARCH(?:\s*\([^)]*\))?)\s+)*)(\w+)\s*\??\s*:\s*[^,{}"]*?(?:\bDEFAULT\s+("(?:[^"\\]|\\.)*"|[^\s,}]+))?\s*(?=[,}\n])/g;
const textMax = 24;

/** Blanks out comments. A `//` inside a string is no comment. */
const withoutComments = (text: string): string =>
  text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*/g, (found) => (found[0] === '"' ? found : ''));

/** Returns the text between a brace and its closing brace. Braces inside strings do not count. */
function bodyAt(text: string, start: number): string {
  let depth = 1;
  for (const { 0: found, index } of text.slice(start).matchAll(/"(?:[^"\\\n]|\\.)*"|[{}]/g)) {
    if (found === '{') depth++;
    else if (found === '}' && --depth === 0) return text.slice(start, start + index + 1);
  }
  return text.slice(start);
}

export function marksIn(files: readonly { text: string }[]): Marks {
  const found = new Map<string, Map<string, string[]>>();
  for (const { text } of files) {
    const plain = withoutComments(text);
    for (const match of plain.matchAll(declarationForm)) {
      const marks = new Map<string, string[]>();
      for (const property of bodyAt(plain, match.index + match[0].length).matchAll(propertyForm)) {
        const [, words = '', name = '', defaultValue] = property;
        const list = [
          ...(words.includes('UNIQUE') ? ['unique'] : words.includes('INDEX') ? ['index'] : []),
          ...(words.match(/SEARCH(?:\s*\([^)]*\))?/) ?? []).map((mark) => mark.toLowerCase()),
          ...(defaultValue === undefined ? [] : [`= ${defaultValue.slice(0, textMax)}`]),
        ];
        if (list.length > 0) marks.set(name, list);
      }
      if (marks.size > 0) found.set(match[1]!, marks);
    }
  }
  return found;
}
