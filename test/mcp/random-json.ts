// Random JSON values from a seed: lists and objects of few members, texts full of signs that mean
// something in JSON.
const pieces = ['a', '"', '\\', '{', '}', '[', ']', ',', ':', '\n', 'é', '\u{1F332}', '0'];

export function randomSource(seed: number) {
  let state = seed;
  const below = (count: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const text = (): string => Array.from({ length: below(9) }, () => pieces[below(13)]).join('');
  const value = (depth: number): unknown => {
    const kind = below(depth === 0 ? 4 : 7);
    if (kind === 0) return text();
    if (kind === 1) return [0, -1.5, 1e21, 2 ** 60, 1e-9][below(5)];
    if (kind === 2) return below(2) === 0;
    if (kind === 3) return null;
    const values = Array.from({ length: below(kind === 4 ? 4 : 9) }, () => value(depth - 1));
    if (kind !== 4) return values;
    return Object.fromEntries(values.map((one, i) => [`${i}x${text()}`, one]));
  };
  return { value };
}
