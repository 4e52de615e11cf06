// Parses replies with exact wide integers: like JSON.parse, but with bigint or text where the type of the
// reply has 64 bits.
// Invariant: a path is always decoded in the same way, so that callers can rely on the type. The HTTP client
// is one file without imports and contains its own copy.
import type { DecodePath } from './decode-path.js';

/** A random mark, so that no stored text can be mistaken for a marked number. */
const mark = `n${Math.random().toString(36).slice(2)}:`;
/** The first digits of integers beyond the exact range of a number; not digits of a fraction or exponent. */
const longInteger = /(?<![\w.+-])-?\d{16}/g;

/** Marks such integers outside strings. */
function marked(text: string): string {
  let [result, done, quote, stringEnd] = ['', 0, text.indexOf('"'), 0];
  for (const { index } of text.matchAll(longInteger)) {
    while (quote >= 0 && quote < index) {
      stringEnd = endOfString(text, quote);
      quote = text.indexOf('"', stringEnd);
    }
    if (index < stringEnd) continue;
    let end = index + 16;
    while (isDigit(text.charCodeAt(end))) end++;
    // A number that continues with a point or an exponent is not an integer.
    if (text[end] === '.' || text[end] === 'e' || text[end] === 'E') continue;
    result += `${text.slice(done, index)}"${mark}${text.slice(index, end)}"`;
    done = end;
  }
  return result + text.slice(done);
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; ; at++) {
    at = text.indexOf('"', at);
    let slashes = at;
    while (text[slashes - 1] === '\\') slashes--;
    if ((at - slashes) % 2 === 0) return at + 1;
  }
}

export function decodeReply(text: string, path: DecodePath): unknown {
  // Replies rarely contain long runs of digits; without them JSON.parse is exact.
  if (path === 0) return JSON.parse(text);
  const isMarked = /\d{16}/.test(text);
  const source = isMarked ? marked(text) : text;
  return settled(JSON.parse(source), path, isMarked);
}

function settled(value: unknown, path: DecodePath, isMarked: boolean): unknown {
  if (typeof value === 'string' && isMarked && value.startsWith(mark)) {
    return wide(value.slice(mark.length), path);
  }
  if (typeof value === 'number') return wide(value, path);
  if (typeof value !== 'object' || value === null || (path === 0 && !isMarked)) return value;
  if (Array.isArray(value)) {
    const of = Array.isArray(path) ? path[0] : 0;
    return value.map((item) => settled(item, of, isMarked));
  }
  const pathOf = (name: string): DecodePath => {
    if (typeof path !== 'object') return 0;
    if (Array.isArray(path)) return path[0];
    return Object.hasOwn(path, name) ? path[name]! : 0;
  };
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    members[name] = settled(members[name], pathOf(name), isMarked);
  }
  return members;
}

function wide(value: number | string, path: DecodePath): unknown {
  if (path === 2) return BigInt(value);
  return path === 3 ? String(value) : Number(value);
}
