// The rules of the prose in comments and pages, as far as a program can judge them: the length of sentences,
// words that are private to a project, and fragments that begin like a continuation.

export interface Offence {
  path: string;
  line: number;
  rule: string;
  text: string;
}

/** A piece of prose with the line that it begins at. */
export interface Passage {
  line: number;
  text: string;
}

/** Private words with their plain replacements. They must not come back in comments or pages. */
const retiredWords: [RegExp, string][] = [
  [/\banew\b/i, 'again'],
  [/\b(whoever|nobody|somebody)\b/i, 'name the actor: the caller, the client, no process'],
  [/\b(any more|anymore)\b/i, 'no longer'],
  [/\bfor good\b/i, 'permanently'],
  [/\bat once\b/i, 'immediately, or at the same time'],
  [/\bunless said( otherwise)?\b/i, 'by default'],
  [/\bof its own\b/i, 'separate, its own X'],
  [/\bby (it|them)(self|selves)\b/i, 'alone, automatically'],
  [/\blikewise\b/i, 'repeat the noun'],
  [/\btold\b/i, 'reported, passed, configured'],
  [/\bhears?\b/i, 'receives, is called when'],
  [/\bbehind (it|them|him|all|this|that|those)\b/i, 'after'],
  [/\bbeside\b/i, 'next to, while X runs, compared with'],
  [/\b(goes|go|going|went) on\b/i, 'continues'],
  [/\bunder ?way\b/i, 'running'],
  [/\bso many\b/i, 'a number'],
  [/\b(for|by) want of\b/i, 'without'],
  [/\bin (its|their) turn\b/i, 'say what follows what'],
  [/\bfront (desk|thread)\b|\b(house|desk) (thread|of)\b/i, 'HTTP thread, database service'],
];

/** Beginnings of a sentence that has no subject. */
const fragment = /^(Of|As|Likewise|Those|The same|Behind|Before|After|By) [^,]*[.:]?$/;
const continued = /^(Of|Likewise|Those|The same)\b/;

/** Sentences of a passage, without code, links and markup. */
export function sentencesOf(text: string): string[] {
  return text
    .replace(/```[\s\S]*?```/g, ' ')
    .replace(/`[^`]*`/g, 'X')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/https?:\/\/\S+/g, 'X')
    .replace(/[*_#>]+/g, ' ')
    .replace(/\b(e\.g|i\.e|vs|cf|St|No)\./g, '$1')
    .replace(/\s+/g, ' ')
    .split(/(?<=[.!?:])\s+(?=["'(]?[A-Z0-9X])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[a-z]/i.test(sentence));
}

const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** What is wrong with a passage; `longest` is the number of words of a sentence. */
export function judge(path: string, { line, text }: Passage, longest: number): Offence[] {
  const found: Offence[] = [];
  const plain = text.replace(/```[\s\S]*?```/g, ' ').replace(/`[^`]*`/g, 'X');
  for (const [word, better] of retiredWords) {
    const hit = word.exec(plain);
    if (hit !== null) found.push({ path, line, rule: `"${hit[0]}": ${better}`, text });
  }
  for (const sentence of sentencesOf(text)) {
    const words = wordsIn(sentence);
    if (words > longest)
      found.push({ path, line, rule: `${words} words in a sentence`, text: sentence });
    if (continued.test(sentence) || (words < 6 && fragment.test(sentence)))
      found.push({ path, line, rule: 'a sentence without a subject', text: sentence });
  }
  return found;
}

/** The comments of a source, each block with its text. */
export function commentsOf(text: string): Passage[] {
  const passages: Passage[] = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const begins = /^\s*(\/\/ ?|\/\*\*? ?)(?!\s*(@ts-|biome-|eslint|v8 ))/.exec(lines[i]!);
    if (begins === null) continue;
    const isBlock = begins[1]!.startsWith('/*');
    const first = i;
    const kept: string[] = [];
    for (; i < lines.length; i++) {
      const line = lines[i]!;
      if (!isBlock && !/^\s*\/\//.test(line)) {
        i--;
        break;
      }
      const said = line.replace(/^\s*(\/\/ ?|\/\*\*? ?|\*\/|\* ?)/, '').replace(/\s*\*\/\s*$/, '');
      // A line that is indented belongs to a drawing of bytes or fields.
      if (!said.startsWith('  ')) kept.push(said);
      if (isBlock && /\*\//.test(line)) break;
    }
    passages.push({ line: first + 1, text: kept.join('\n').trim() });
  }
  // Drawings and tables are no prose.
  return passages.filter(({ text: it }) => it !== '' && !/[│┌└─]|^\s*\|/m.test(it));
}

/** The paragraphs, list items and cells of a page. */
export function paragraphsOf(text: string): Passage[] {
  const passages: Passage[] = [];
  let open: Passage | undefined;
  let isCode = false;
  text.split('\n').forEach((line, i) => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    const isText = !isCode && !/^\s*(```|~~~)/.test(line) && line.trim() !== '';
    if (!isText || /^\s*(#|[-*] |\d+\. |\|)/.test(line)) open = undefined;
    if (!isText || /^\s*#/.test(line) || /^\s*\|[-| :]+\|?$/.test(line)) return;
    if (/^\s*\|/.test(line)) {
      for (const cell of line.split(/(?<!\\)\|/)) passages.push({ line: i + 1, text: cell.trim() });
      return;
    }
    if (open === undefined) passages.push((open = { line: i + 1, text: line }));
    else open.text += `\n${line}`;
  });
  return passages.filter((passage) => passage.text !== '');
}
