// Finds a member name that occurs twice in one object, in any spelling.
import { COUNT_SHIFT, ENTRY, entryAfter, FLAG, textAt } from './tape.js';

/** Up to this many members all pairs are compared; beyond, a set is cheaper. */
const pairsMax = 16;
const seen = new Int32Array(pairsMax);

/** Returns the tape index of the second occurrence of a name in the object at `object`, or -1. */
export function duplicateMember(bytes: Uint8Array, tape: Int32Array, object: number): number {
  const count = tape[object]! >>> COUNT_SHIFT;
  return count <= pairsMax ? byPairs(bytes, tape, object) : bySet(bytes, tape, object);
}

function byPairs(bytes: Uint8Array, tape: Int32Array, object: number): number {
  const end = tape[object + 3]!;
  let count = 0;
  for (let key = object + ENTRY; key < end; key = entryAfter(tape, key + ENTRY)) {
    for (let i = 0; i < count; i++) if (sameKey(bytes, tape, seen[i]!, key)) return key;
    seen[count++] = key;
  }
  return -1;
}

function bySet(bytes: Uint8Array, tape: Int32Array, object: number): number {
  const names = new Set<string>();
  const end = tape[object + 3]!;
  for (let key = object + ENTRY; key < end; key = entryAfter(tape, key + ENTRY)) {
    const name = textAt(bytes, tape, key);
    if (names.has(name)) return key;
    names.add(name);
  }
  return -1;
}

function sameKey(bytes: Uint8Array, tape: Int32Array, a: number, b: number): boolean {
  if (((tape[a]! | tape[b]!) & FLAG.escaped) !== 0)
    return textAt(bytes, tape, a) === textAt(bytes, tape, b);
  const start = tape[a + 1]!;
  const other = tape[b + 1]!;
  const length = tape[a + 2]! - start;
  if (tape[b + 2]! - other !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[start + i] !== bytes[other + i]) return false;
  return true;
}
