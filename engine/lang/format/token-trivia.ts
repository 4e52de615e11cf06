// Tokens with the comments around them: what the formatter moves about. Owns the reading of what stands
// between two tokens. Invariant: every comment of the text belongs to exactly one piece.
import type { Token } from '../syntax/lexer.js';

export interface Comment {
  text: string;
  /** A blank line stands before it. */
  blank: boolean;
}

export interface TokenWithTrivia {
  token: Token;
  /** As it stands in the source: strings keep their escapes. */
  text: string;
  /** On lines of their own before the token. */
  lead: Comment[];
  /** A blank line stands between them, or what is before, and the token. */
  blank: boolean;
  /** Between it and the token before on the same line. */
  inline: string;
  /** Behind the token, to the end of its line. */
  trail: string;
  /** The token begins a line. */
  begins: boolean;
}

const comment = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;
const newline = /\r\n?|\n/g;

const linesIn = (text: string): number => text.match(newline)?.length ?? 0;

export function piecesOf(text: string, tokens: readonly Token[]): TokenWithTrivia[] {
  const pieces: TokenWithTrivia[] = [];
  let end = 0;
  for (const token of tokens) {
    const gap = text.slice(end, token.start);
    const shown = token.kind === 'end' ? '' : text.slice(token.start, token.end);
    const piece: TokenWithTrivia = {
      token,
      text: shown,
      lead: [],
      blank: false,
      inline: '',
      trail: '',
      begins: end === 0 || linesIn(gap) > 0,
    };
    readGap(gap, pieces.at(-1), piece);
    pieces.push(piece);
    end = token.end;
  }
  return pieces;
}

/** Comments on the line of the token before are its own; the others are of the token behind. */
function readGap(gap: string, before: TokenWithTrivia | undefined, piece: TokenWithTrivia): void {
  let at = 0;
  let isOnLine = before !== undefined;
  for (const match of gap.matchAll(comment)) {
    const between = linesIn(gap.slice(at, match.index));
    if (between > 0) isOnLine = false;
    const text = match[0].trimEnd().replaceAll(newline, '\n');
    at = match.index + match[0].length;
    const endsLine = /^[^\S\r\n]*(\r|\n|$)/.test(gap.slice(at));
    if (isOnLine && endsLine && piece.inline === '') {
      before!.trail += before!.trail === '' ? text : ` ${text}`;
    } else if (isOnLine && !/[\r\n]/.test(gap)) {
      piece.inline += piece.inline === '' ? text : ` ${text}`;
    } else {
      piece.lead.push({ text, blank: between > 1 });
      isOnLine = false;
    }
  }
  piece.blank = linesIn(gap.slice(at)) > 1;
}
