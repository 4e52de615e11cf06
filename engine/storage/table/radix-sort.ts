// Sorts positions by id with a stable radix sort. Afterwards, the entries of one element are adjacent, and
// neighbours in key order follow each other.

const digitBits = 11;
const digits = 1 << digitBits;

/** Up to this many ids are sorted by insertion, because counting digits costs more. */
const few = 48;

/** Returns the positions of the first `count` ids by ascending id, those of equal ids ascending. */
export function orderOf(ids: Uint32Array, count: number): Uint32Array {
  return count <= few ? orderOfFew(ids, count) : orderOfMany(ids, count);
}

function orderOfFew(ids: Uint32Array, count: number): Uint32Array {
  const order = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    const id = ids[at]!;
    let position = at;
    for (; position > 0 && ids[order[position - 1]!]! > id; position--)
      order[position] = order[position - 1]!;
    order[position] = at;
  }
  return order;
}

function orderOfMany(ids: Uint32Array, count: number): Uint32Array {
  let highest = 0;
  let order = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    order[at] = at;
    if (ids[at]! > highest) highest = ids[at]!;
  }
  let sorted = new Uint32Array(count);
  for (let shift = 0; shift < 32 && highest >>> shift > 0; shift += digitBits) {
    const starts = new Uint32Array(digits + 1);
    for (let at = 0; at < count; at++) starts[((ids[at]! >>> shift) & (digits - 1)) + 1]!++;
    for (let digit = 1; digit <= digits; digit++) starts[digit]! += starts[digit - 1]!;
    for (let at = 0; at < count; at++) {
      const position = order[at]!;
      sorted[starts[(ids[position]! >>> shift) & (digits - 1)]!++] = position;
    }
    [order, sorted] = [sorted, order];
  }
  return order;
}
