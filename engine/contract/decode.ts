// Replies as values in which wide integers are exact: what JSON.parse makes of the text, but bigint or
// text where the type of the reply says 64 bits. Invariant: the same place is decoded alike whatever
// stands there, so that a caller may rely on its type. (The client over HTTP is one file that imports
// nothing, and does the same for itself.)
import type { DecodePlace } from './decode-place.js';

const mark = '\u0000n';
const longIntegers = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

export function decodeReply(text: string, place: DecodePlace): unknown {
  // Nearly always there is no long run of digits, and JSON.parse is right.
  if (place === 0) return JSON.parse(text);
  const isMarked = /\d{16}/.test(text);
  const source = isMarked
    ? text.replace(longIntegers, (token) => (token[0] === '"' ? token : `"\\u0000n${token}"`))
    : text;
  return settled(JSON.parse(source), place, isMarked);
}

function settled(value: unknown, place: DecodePlace, isMarked: boolean): unknown {
  if (typeof value === 'string' && isMarked && value.startsWith(mark)) {
    return wide(value.slice(mark.length), place);
  }
  if (typeof value === 'number') return wide(value, place);
  if (typeof value !== 'object' || value === null || (place === 0 && !isMarked)) return value;
  if (Array.isArray(value)) {
    const of = Array.isArray(place) ? place[0] : 0;
    return value.map((item) => settled(item, of, isMarked));
  }
  const placeOf = (name: string): DecodePlace => {
    if (typeof place !== 'object') return 0;
    if (Array.isArray(place)) return place[0];
    return Object.hasOwn(place, name) ? place[name]! : 0;
  };
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    members[name] = settled(members[name], placeOf(name), isMarked);
  }
  return members;
}

function wide(value: number | string, place: DecodePlace): unknown {
  if (place === 2) return BigInt(value);
  return place === 3 ? String(value) : Number(value);
}
