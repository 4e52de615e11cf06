// The lexer: converts text to tokens in one pass. Errors are reported and skipped, so that the parser always
// receives a complete list that ends with an `end` token.
import { compactInteger } from '../../base/integer.js';
import type { Report } from './diagnostic.js';
import { dialectHint } from './dialect-hints.js';
import { lineEnd, type SourceFile } from './source-file.js';

/** `faulty` replaces a malformed literal or a foreign symbol, which has been reported. */
export type TokenKind = 'name' | 'string' | 'integer' | 'float' | 'symbol' | 'faulty' | 'end';

export interface Token {
  kind: TokenKind;
  /** Names and symbols as written, strings decoded. */
  text: string;
  start: number;
  end: number;
  /** Value of an integer or float. */
  value?: number | bigint;
  /** A symbol without meaning here; it is skipped if the text is valid without it. */
  isUnexpected?: true;
}

const space = /\s+/y;
const word = /[A-Za-z][A-Za-z0-9_]*/y;
const digits = /-?[0-9][0-9A-Za-z_]*/y;
const moreDigits = /(?:\.|(?<=[eE])[+-])[0-9][0-9A-Za-z_]*/y;
const integer = /^-?[0-9]+$/;
const float = /^-?[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)$/;
const symbol = /::|\.\.|<-|=>|[:,.(){}[\]<>!|#?_*]/y;
/** Symbols of other languages that would otherwise split into symbols of this language. */
const operator = /===?|!==?|[<>:]=|&&|\|\||\.\.\.|\?\?|--?>|-\[[^\]\r\n]*\](?:->|-)?/y;
/** A quoted text that ends on its line. */
const quoted = /'[^'\r\n]*'|`[^`\r\n]*`|\u201c[^\u201d\r\n]*\u201d|\u2018[^\u2019\r\n]*\u2019/y;
const foreign = /=+|[^\sA-Za-z0-9"(){}[\]<>:,.|!#?_/=*-]+|./uy;

const integerMax = 2n ** 128n - 1n;
const integerMin = -(2n ** 127n);

export function tokenise(file: SourceFile, nameMax: number, report: Report): Token[] {
  const { text } = file;
  const tokens: Token[] = [];
  const match = (pattern: RegExp, at: number): number => matchEnd(pattern, text, at);
  let start = skipBlank(text, 0);
  let open = 0;
  while (start < text.length) {
    let end: number;
    const before = tokens.length;
    if ((end = match(word, start)) > start) {
      tokens.push({ kind: 'name', text: text.slice(start, end), start, end });
      if (end - start > nameMax) reportName(start, end, nameMax, report);
    } else if ((end = numberEnd(text, start)) > start) {
      tokens.push(readNumber(text.slice(start, end), start, end, report));
    } else if ((end = foreignComment(text, start, report)) > start) {
      // The quotes are the only error.
    } else if (text[start] === '"') {
      const token = readString(text, start, report);
      tokens.push(token);
      end = token.end;
    } else if (open > 0 && isDefault(text, start)) {
      end = start + 1;
      tokens.push({ kind: 'symbol', text: '=', start, end });
    } else if ((end = foreignEnd(text, start)) > start) {
      tokens.push(reportForeign(text, start, end, tokens, report));
    } else if ((end = match(symbol, start)) > start) {
      tokens.push({ kind: 'symbol', text: text.slice(start, end), start, end });
    } else if (text.startsWith('/*', start)) {
      report('E003', { start, end: start + 2 }, 'This comment is never closed.', 'Add `*/`.');
      end = text.length;
    } else {
      end = match(foreign, start);
      tokens.push(reportForeign(text, start, end, tokens, report));
    }
    if (tokens.length > before) open = parametersOpen(tokens, open);
    start = skipBlank(text, end);
  }
  tokens.push({ kind: 'end', text: 'the end of the file', start, end: start });
  return tokens;
}

/** Returns true for `=` before a default; elsewhere the symbol is foreign. */
const isDefault = (text: string, at: number): boolean =>
  text[at] === '=' && text[at + 1] !== '=' && text[at + 1] !== '>';

/** Returns the number of parentheses open around the parameters of a query, after its last token. */
function parametersOpen(tokens: readonly Token[], open: number): number {
  const { kind, text } = tokens.at(-1)!;
  if (kind !== 'symbol' || (text !== '(' && text !== ')')) return open;
  if (open > 0) return text === '(' ? open + 1 : open - 1;
  const [query, name] = tokens.slice(-3);
  const isHeader = query!.kind === 'name' && query!.text === 'QUERY' && name!.kind === 'name';
  return isHeader && text === '(' ? 1 : 0;
}

/** Returns the end of a match of a sticky pattern; `at` if there is none. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Skips white space and closed comments. */
function skipBlank(text: string, at: number): number {
  for (;;) {
    const from = at;
    at = matchEnd(space, text, at);
    if (text.startsWith('//', at)) {
      at = lineEnd(text, at);
    } else if (text.startsWith('/*', at)) {
      const close = text.indexOf('*/', at + 2);
      if (close >= 0) at = close + 2;
    }
    if (at === from) return at;
  }
}

/** Consumes everything that looks like part of a number, so that `1.2.3` is one malformed number. */
function numberEnd(text: string, start: number): number {
  let at = matchEnd(digits, text, start);
  if (at === start) return at;
  for (let next = at; (next = matchEnd(moreDigits, text, at)) > at; ) at = next;
  return at;
}

function reportName(start: number, end: number, nameMax: number, report: Report): void {
  const message = `A name has at most ${nameMax} characters, this one ${end - start}.`;
  report('E005', { start, end }, message, 'The limit is `limits.source_name`.');
}

/** Returns the end of a symbol or text of another language; `start` if there is none. */
function foreignEnd(text: string, start: number): number {
  const end = matchEnd(quoted, text, start);
  return end > start ? end : matchEnd(operator, text, start);
}

const macro = /#\s*\[/y;
const macroWord = /#\s*(mcp|model)\b/y;

/** Reports `# …` and `-- …`. Returns the end of the line, or `start` if the text is neither. */
function foreignComment(text: string, start: number, report: Report): number {
  const isHash = text[start] === '#' && matchEnd(macro, text, start) === start;
  const isDashes = text.startsWith('--', start) && text[start + 2] !== '>';
  if (!isHash && !isDashes) return start;
  const isMacro = isHash && matchEnd(macroWord, text, start) > start;
  const sign = isHash ? '#' : '--';
  const hint = isMacro ? 'A macro is written `#[mcp]`.' : 'A comment begins with `//`.';
  const span = { start, end: start + sign.length };
  report(isHash ? 'E001' : 'E003', span, `\`${sign}\` begins no comment.`, hint);
  return lineEnd(text, start);
}

function reportForeign(
  text: string,
  start: number,
  end: number,
  before: readonly Token[],
  report: Report,
): Token {
  const whole = text.slice(start, end);
  // `-[:Knows]->` is recognized by its beginning.
  const sign = whole.startsWith('-[') ? '-[' : whole;
  const point = sign.codePointAt(0)!;
  const isQuoted = /^['`\u201c\u2018]./su.test(sign);
  const plain = point > 32 && point < 127;
  const shown = !plain
    ? `Character U+${point.toString(16).toUpperCase().padStart(4, '0')}`
    : `\`${isQuoted || sign.length > 3 ? String.fromCodePoint(point) : sign}\``;
  const isJoined = /^\w$/.test(text[start - 1] ?? '') && /^\w$/.test(text[end] ?? '');
  const hint = dialectHint(isQuoted ? sign[0]! : sign, before, isJoined);
  // The symbol is a token before a default.
  if (sign === '=') report('E001', { start, end }, `Unexpected ${shown}.`, hint);
  else report('E003', { start, end }, `${shown} begins no token.`, hint);
  const kind = 'faulty';
  return isQuoted
    ? { kind, text: sign, start, end }
    : { kind, text: sign, start, end, isUnexpected: true };
}

function readNumber(text: string, start: number, end: number, report: Report): Token {
  const faulty: Token = { kind: 'faulty', text, start, end };
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  if (integer.test(text)) {
    // 2^128 has 39 digits; longer texts are too large unless they begin with zeros.
    const short = text.replace(/^(-?)0+(?=[0-9])/, '$1');
    const value = short.length > 40 ? undefined : BigInt(short);
    if (value !== undefined && value >= integerMin && value <= integerMax) {
      return { kind: 'integer', text, start, end, value: compactInteger(value) };
    }
    report('E004', { start, end }, `${shown} has more than 128 bits.`);
    return faulty;
  }
  const value = float.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return { kind: 'float', text, start, end, value };
  if (Number.isNaN(value)) report('E004', { start, end }, `\`${shown}\` is no number.`);
  else report('E303', { start, end }, `${shown} is beyond the largest F64.`);
  return faulty;
}

const escapes: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const loneSurrogate = /\p{Surrogate}/u;
const plain = /[^"\\]*/y;
const escapeHint = 'The escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX.';

function readString(text: string, start: number, report: Report): Token {
  const parts: string[] = [];
  let at = start + 1;
  for (;;) {
    plain.lastIndex = at;
    plain.test(text);
    parts.push(text.slice(at, plain.lastIndex));
    at = plain.lastIndex;
    // A backslash at the very end escapes nothing.
    if (at >= text.length || (text[at] === '\\' && at + 1 === text.length))
      return unterminated(text, start, report);
    if (text[at] === '"') break;
    const hex = /^u([0-9A-Fa-f]{4})/.exec(text.slice(at + 1, at + 6));
    const simple = escapes[text[at + 1] ?? ''];
    if (hex) parts.push(String.fromCharCode(Number.parseInt(hex[1]!, 16)));
    else if (simple !== undefined) parts.push(simple);
    else report('E002', { start: at, end: at + 2 }, 'There is no such escape.', escapeHint);
    at += hex ? 6 : simple !== undefined ? 2 : 1;
  }
  const value = parts.join('');
  if (loneSurrogate.test(value)) {
    report('E002', { start, end: at + 1 }, 'The string holds a lone surrogate.');
    return { kind: 'faulty', text: '', start, end: at + 1 };
  }
  return { kind: 'string', text: value, start, end: at + 1 };
}

/** The rest of the line counts as the string, so that the following lines are still read. */
function unterminated(text: string, start: number, report: Report): Token {
  const end = lineEnd(text, start);
  report('E002', { start, end }, 'This string is never closed.', 'Add `"`.');
  return { kind: 'faulty', text: '', start, end };
}
