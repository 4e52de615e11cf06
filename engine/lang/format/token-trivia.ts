// Tokens with the comments around them, as the formatter moves them. Reads the text between two tokens.
// Invariant: every comment of the text belongs to exactly one token.
import type { Token } from '../syntax/lexer.js';

export interface Comment {
  text: string;
  /** True if a blank line precedes it. */
  blank: boolean;
}

export interface TokenWithTrivia {
  token: Token;
  /** Source text of the token: strings keep their escapes. */
  text: string;
  /** Comments on separate lines before the token. */
  lead: Comment[];
  /** True if a blank line separates the token from its comments or from the token before. */
  blank: boolean;
  /** Comment between the token and the one before it on the same line. */
  inline: string;
  /** Comment after the token, up to the end of the line. */
  trail: string;
  /** True if the token begins a line. */
  begins: boolean;
}

const comment = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;
const newline = /\r\n?|\n/g;

const linesIn = (text: string): number => text.match(newline)?.length ?? 0;

export function readTrivia(text: string, tokens: readonly Token[]): TokenWithTrivia[] {
  const entries: TokenWithTrivia[] = [];
  let end = 0;
  for (const token of tokens) {
    const gap = text.slice(end, token.start);
    const shown = token.kind === 'end' ? '' : text.slice(token.start, token.end);
    const entry: TokenWithTrivia = {
      token,
      text: shown,
      lead: [],
      blank: false,
      inline: '',
      trail: '',
      begins: end === 0 || linesIn(gap) > 0,
    };
    readGap(gap, entries.at(-1), entry);
    entries.push(entry);
    end = token.end;
  }
  return entries;
}

/** Comments on the line of the previous token belong to it; the others belong to the next token. */
function readGap(gap: string, before: TokenWithTrivia | undefined, entry: TokenWithTrivia): void {
  let at = 0;
  let isOnLine = before !== undefined;
  for (const match of gap.matchAll(comment)) {
    const between = linesIn(gap.slice(at, match.index));
    if (between > 0) isOnLine = false;
    const text = match[0].trimEnd().replaceAll(newline, '\n');
    at = match.index + match[0].length;
    const endsLine = /^[^\S\r\n]*(\r|\n|$)/.test(gap.slice(at));
    if (isOnLine && endsLine && entry.inline === '') {
      before!.trail += before!.trail === '' ? text : ` ${text}`;
    } else if (isOnLine && !/[\r\n]/.test(gap)) {
      entry.inline += entry.inline === '' ? text : ` ${text}`;
    } else {
      entry.lead.push({ text, blank: between > 1 });
      isOnLine = false;
    }
  }
  entry.blank = linesIn(gap.slice(at)) > 1;
}
