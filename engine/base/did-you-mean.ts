// Which of some known names was meant by one that is not known: "Did you mean `height`?". The only
// place that compares names; every hint asks here. Invariant: what it costs is bounded by the
// number of names alone, however long they are and whoever sent them.

/** Longer names are compared by their beginnings: nobody mistypes only the end of such a name. */
const lengthMax = 64;
/** Names looked at; a project with more is still told about the first of them. */
const namesMax = 1000;

/**
 * Insertions, deletions, replacements and swaps of neighbours that lead from one name to the other
 * (optimal string alignment; R. Wagner and R. Lowrance, 1975). Gives up at `most`, which is then
 * the answer.
 */
export function editDistance(from: string, to: string, most = Number.POSITIVE_INFINITY): number {
  const a = from.slice(0, lengthMax);
  const b = to.slice(0, lengthMax);
  if (Math.abs(a.length - b.length) >= most) return most;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
      if (cost < least) least = cost;
    }
    // A swap looks back two rows, but costs one more than what it looks at.
    if (least >= most) return most;
    before = above;
    above = row;
  }
  return Math.min(most, above[b.length]!);
}

/** Edits that still leave a name recognisable: one in three letters, none in a single one. */
const tolerance = ({ length }: string): number =>
  length === 1 ? 0 : Math.max(1, Math.floor(length / 3));

/** Letter case counts for less than any letter. */
const folded = (name: string): string => name.toLowerCase();

/** The name that was meant, letter case ignored: the nearest one, the first of equals, if any. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > lengthMax) return undefined;
  const wanted = folded(name);
  let best: string | undefined;
  let bound = tolerance(name) + 1;
  let count = 0;
  for (const candidate of known) {
    if (++count > namesMax) break;
    // What is spelt the same is not what was meant: it is known, and does not fit here.
    if (candidate === name) continue;
    const distance = editDistance(wanted, folded(candidate), bound);
    if (distance >= bound) continue;
    best = candidate;
    bound = distance;
  }
  return best;
}

/** A hint with the name that was meant, or `otherwise` when none is near. */
export function didYouMean(
  name: string,
  known: Iterable<string>,
  otherwise?: string,
): string | undefined {
  const best = nearestName(name, known);
  return best === undefined ? otherwise : `Did you mean \`${best}\`?`;
}

/** The first names, the nearest first. */
export function rankedNames(name: string, known: Iterable<string>): string[] {
  const wanted = folded(name);
  const names = [...known];
  const ranked = names.slice(0, namesMax).map((text) => {
    return { text, distance: editDistance(wanted, folded(text)) };
  });
  return ranked.sort((a, b) => a.distance - b.distance).map(({ text }) => text);
}
