// Source files as text with positions. Converts bytes to text, and offsets to lines and columns. Offsets and
// columns count UTF-16 units, as editors do; a byte-order mark is not part of the text.

/** A half-open range of one file's text. */
export interface Span {
  start: number;
  end: number;
}

export interface SourceFile {
  path: string;
  text: string;
  /** Offset at which each line begins. */
  lines: readonly number[];
  /** Size of the file in bytes. */
  bytes: number;
  /** Offset of the first byte that is not valid UTF-8; the invalid bytes are blanks in `text`. */
  badUtf8At?: number;
}

export function readSource(path: string, content: string | Uint8Array): SourceFile {
  if (typeof content === 'string') {
    const text = content.startsWith('\uFEFF') ? content.slice(1) : content;
    const bytes = Buffer.byteLength(content);
    const loneSurrogate = text.search(/\p{Surrogate}/u);
    const badUtf8At = loneSurrogate < 0 ? undefined : loneSurrogate;
    return { path, text, lines: lineStarts(text), bytes, badUtf8At };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return { path, text, lines: lineStarts(text), bytes: content.length };
  } catch {
    const text = new TextDecoder().decode(content).replaceAll('\uFFFD', ' ');
    const badUtf8At = validPrefix(content).length;
    return { path, text, lines: lineStarts(text), bytes: content.length, badUtf8At };
  }
}

/**
 * Returns the text of the longest valid prefix, found by bisection: every prefix of a valid prefix is valid.
 */
function validPrefix(bytes: Uint8Array): string {
  const decode = (length: number): string | undefined => {
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true });
      return decoder.decode(bytes.subarray(0, length), { stream: true });
    } catch {
      return undefined;
    }
  };
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (decode(middle) === undefined) high = middle - 1;
    else low = middle;
  }
  return decode(low) ?? '';
}

/** Lines end with LF, CR LF or, as on old Macs, CR alone. */
const lineBreak = /\r\n?|\n/g;

function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(lineBreak), ({ 0: end, index }) => index + end.length)];
}

/** Returns the text of a line, counted from 1, without its line break. */
export function readLine(text: string, line: number): string {
  return text.split(lineBreak, line)[line - 1] ?? '';
}

const restOfLine = /[^\r\n]*/y;

/** Returns the offset at which the line of an offset ends, before its line break. */
export function lineEnd(text: string, offset: number): number {
  restOfLine.lastIndex = offset;
  restOfLine.test(text);
  return restOfLine.lastIndex;
}

/** Returns line and column of an offset, both counted from 1. */
export function findPosition(file: SourceFile, offset: number): { line: number; column: number } {
  let low = 0;
  let high = file.lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (file.lines[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - file.lines[low]! + 1 };
}
