// The lexical grammar (helixql.md 1): text to tokens in one pass. Faults are reported and passed
// over, so that the parser always receives a complete list that ends with an `end` token.
import { compactInteger } from '../../base/integer.js';
import type { Report } from './diagnostic.js';
import { lineEnd, type SourceFile } from './source.js';

/** `faulty` stands where a malformed literal was. */
export type TokenKind = 'name' | 'string' | 'integer' | 'float' | 'symbol' | 'faulty' | 'end';

export interface Token {
  kind: TokenKind;
  /** Names and symbols as written, strings decoded. */
  text: string;
  start: number;
  end: number;
  /** Of integers and floats. */
  value?: number | bigint;
}

const space = /\s+/y;
const word = /[A-Za-z][A-Za-z0-9_]*/y;
const digits = /-?[0-9][0-9A-Za-z_]*/y;
const moreDigits = /(?:\.|(?<=[eE])[+-])[0-9][0-9A-Za-z_]*/y;
const integer = /^-?[0-9]+$/;
const float = /^-?[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)$/;
const symbol = /::|\.\.|<-|=>|[:,.(){}[\]<>!|#?_]/y;
const foreign = /=+|[^\sA-Za-z0-9"(){}[\]<>:,.|!#?_/=-]+|./uy;

const integerMax = 2n ** 128n - 1n;
const integerMin = -(2n ** 127n);

export function tokenise(file: SourceFile, nameMax: number, report: Report): Token[] {
  const { text } = file;
  const tokens: Token[] = [];
  const match = (pattern: RegExp, at: number): number => matchEnd(pattern, text, at);
  let start = skipBlank(text, 0);
  while (start < text.length) {
    let end: number;
    if ((end = match(word, start)) > start) {
      tokens.push({ kind: 'name', text: text.slice(start, end), start, end });
      if (end - start > nameMax) reportName(start, end, nameMax, report);
    } else if ((end = numberEnd(text, start)) > start) {
      tokens.push(readNumber(text.slice(start, end), start, end, report));
    } else if (text[start] === '"') {
      const token = readString(text, start, report);
      tokens.push(token);
      end = token.end;
    } else if ((end = match(symbol, start)) > start) {
      tokens.push({ kind: 'symbol', text: text.slice(start, end), start, end });
    } else if (text.startsWith('/*', start)) {
      report('E003', { start, end: start + 2 }, 'This comment is never closed.', 'Add `*/`.');
      end = text.length;
    } else {
      end = match(foreign, start);
      reportForeign(text.slice(start, end), start, report);
    }
    start = skipBlank(text, end);
  }
  tokens.push({ kind: 'end', text: 'the end of the file', start, end: start });
  return tokens;
}

/** Where a match of a sticky pattern ends; `at` itself when there is none. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Passes white space and closed comments. */
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

/** Takes everything that looks like part of a number, so that `1.2.3` is one faulty number. */
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

function reportForeign(text: string, start: number, report: Report): void {
  const point = text.codePointAt(0)!;
  const shown =
    point > 32 && point < 127
      ? `\`${String.fromCodePoint(point)}\``
      : `Character U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  const hint = point === 61 ? 'Bind with `<-`; compare with `::EQ(…)`.' : undefined;
  report('E003', { start, end: start + text.length }, `${shown} begins no token.`, hint);
}

function readNumber(text: string, start: number, end: number, report: Report): Token {
  const faulty: Token = { kind: 'faulty', text, start, end };
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  if (integer.test(text)) {
    // 2^128 has 39 digits; longer texts are too large unless they are all zeros in front.
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

/** The rest of the line is taken for the string, so that the lines below are still read. */
function unterminated(text: string, start: number, report: Report): Token {
  const end = lineEnd(text, start);
  report('E002', { start, end }, 'This string is never closed.', 'Add `"`.');
  return { kind: 'faulty', text: '', start, end };
}
