// Finds the known name that a misspelled name probably stands for: "Did you mean `height`?". This
// is the only code that compares spellings.
// Invariant: the cost is bounded by the number of known names, whatever their lengths.

/** Longer names are compared by their first characters. */
const lengthMax = 64;
/** Rows of the table of distances. One comparison at a time uses them. */
const rows = [0, 1, 2].map(() => new Uint8Array(lengthMax + 1));
/** Maximum number of known names to compare with. Further names are ignored. */
const namesMax = 1000;

/**
 * Returns the number of insertions, deletions, replacements and swaps of adjacent characters that
 * turn one name into the other (optimal string alignment; R. Wagner and R. Lowrance, 1975). Stops
 * at `maxDistance` and then returns `maxDistance`.
 */
export function editDistance(
  from: string,
  to: string,
  maxDistance = Number.POSITIVE_INFINITY,
): number {
  const a = from.slice(0, lengthMax);
  const b = to.slice(0, lengthMax);
  if (Math.abs(a.length - b.length) >= maxDistance) return maxDistance;
  let [before, above, row] = rows as [Uint8Array, Uint8Array, Uint8Array];
  for (let j = 0; j <= b.length; j++) above[j] = j;
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let rowMin = i;
    const letter = a.charCodeAt(i - 1);
    const formerLetter = i > 1 ? a.charCodeAt(i - 2) : -1;
    for (let j = 1; j <= b.length; j++) {
      const other = b.charCodeAt(j - 1);
      let cost = above[j - 1]! + (letter === other ? 0 : 1);
      if (above[j]! < cost) cost = above[j]! + 1;
      if (row[j - 1]! < cost) cost = row[j - 1]! + 1;
      if (j > 1 && formerLetter === other && letter === b.charCodeAt(j - 2))
        cost = Math.min(cost, before[j - 2]! + 1);
      row[j] = cost;
      if (cost < rowMin) rowMin = cost;
    }
    // A swap reads the row before the previous one, but costs 1 more than the entry that it reads.
    if (rowMin >= maxDistance) return maxDistance;
    [before, above, row] = [above, row, before];
  }
  return Math.min(maxDistance, above[b.length]!);
}

/**
 * Returns the number of edits up to which names count as similar: one for every three letters, none
 * for a single letter.
 */
const tolerance = ({ length }: string): number =>
  length === 1 ? 0 : Math.max(1, Math.floor(length / 3));

/** Names are compared without regard to letter case. */
const folded = (name: string): string => name.toLowerCase();

/**
 * Returns the nearest known name, ignoring letter case, and the first one among equals. Returns
 * undefined if none is similar.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > lengthMax) return undefined;
  const wanted = folded(name);
  let best: string | undefined;
  let bound = tolerance(name) + 1;
  let count = 0;
  for (const candidate of known) {
    if (++count > namesMax) break;
    // An identical name is not a correction: it exists, but it is not valid here.
    if (candidate === name) continue;
    const distance = editDistance(wanted, folded(candidate), bound);
    if (distance >= bound) continue;
    best = candidate;
    bound = distance;
  }
  return best;
}

/** Returns a hint with the nearest name, or `otherwise` if none is similar. */
export function didYouMean(
  name: string,
  known: Iterable<string>,
  otherwise?: string,
): string | undefined {
  const best = nearestName(name, known);
  return best === undefined ? otherwise : `Did you mean \`${best}\`?`;
}

/** Returns the first known names, ordered by similarity, the nearest first. */
export function rankedNames(name: string, known: Iterable<string>): string[] {
  const wanted = folded(name);
  const names = [...known];
  const ranked = names.slice(0, namesMax).map((text) => {
    return { text, distance: editDistance(wanted, folded(text)) };
  });
  return ranked.sort((a, b) => a.distance - b.distance).map(({ text }) => text);
}
