// Reads what people type into a search field: words, `"a phrase"`, `+must`, `-not` and `word*`. Whatever is
// odd is words: no text is an error.
import type { QueryPart } from './query-types.js';

/** A sign only counts in front of a word or a quotation mark, where a part begins. */
const partPattern = /(?<sign>[-+](?=["\p{L}\p{N}]))?(?:"(?<phrase>[^"]*)"|(?<word>[^\s"]+))/gu;

/** Returns the parts of a text. */
export function readTypedQuery(text: string): QueryPart[] {
  const parts: QueryPart[] = [];
  for (const { index, groups } of text.matchAll(partPattern)) {
    const { sign, phrase, word = '' } = groups!;
    const begins = index === 0 || /\s/.test(text[index - 1]!);
    const role =
      sign === undefined || !begins ? 'optional' : sign === '-' ? 'excluded' : 'required';
    if (phrase !== undefined) {
      const isRequired = role === 'optional' ? 'required' : role;
      parts.push({ text: phrase, role: isRequired, isPhrase: true, isPrefix: false });
      continue;
    }
    const isPrefix = /[\p{L}\p{N}\p{M}]\*$/u.test(word);
    const own = isPrefix ? word.slice(0, -1) : word;
    parts.push({ text: own, role, isPhrase: false, isPrefix });
  }
  return parts;
}
