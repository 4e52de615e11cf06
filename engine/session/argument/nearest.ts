// Hints for names that do not exist: known names, the nearest first.

const namesMax = 20;
/** Longer names are compared by their beginnings: nobody mistypes the end of such a name. */
const lengthMax = 128;

/**
 * Edits (insert, delete, replace, swap of neighbours) between two names; R. Wagner and R. Lowrance,
 * 1975.
 */
export function editDistance(from: string, to: string): number {
  const a = from.slice(0, lengthMax);
  const b = to.slice(0, lengthMax);
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = above;
    above = row;
  }
  return above[b.length]!;
}

/** `Known node types: Author, Book.`, nearest first, at most 20 names. */
export function knownNames(what: string, name: string, known: Iterable<string>): string {
  const ranked = [...known].map((text) => ({ text, distance: editDistance(name, text) }));
  ranked.sort((a, b) => a.distance - b.distance);
  const names = ranked.slice(0, namesMax).map(({ text }) => text);
  if (names.length === 0) return `The schema has no ${what}.`;
  return `Known ${what}: ${names.join(', ')}${ranked.length > namesMax ? ', …' : ''}.`;
}

/** The one name that is at most two edits away and nearest, if any. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const text of known) {
    if (Math.abs(text.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name, text);
    if (distance >= bestDistance) continue;
    best = text;
    bestDistance = distance;
  }
  return best;
}
