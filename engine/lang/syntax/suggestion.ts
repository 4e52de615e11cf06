// The nearest of some names to a misspelt one: "did you mean `height`?".

const lengthMax = 64;
const candidatesMax = 500;

/** A hint naming the nearest candidate, or `otherwise` when none is near. */
export function didYouMean(
  name: string,
  candidates: Iterable<string>,
  otherwise?: string,
): string | undefined {
  const best = nearest(name, candidates);
  return best === undefined ? otherwise : `Did you mean \`${best}\`?`;
}

/**
 * The candidate within a third of the name's length in edits, letter case ignored; the first of
 * equals.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > lengthMax) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  let count = 0;
  for (const candidate of candidates) {
    if (++count > candidatesMax) break;
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/**
 * Insertions, deletions, replacements and swaps of neighbours (Damerau; optimal string alignment).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(row[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}
