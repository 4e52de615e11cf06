// The colors of types: twelve that are distinct and readable on light and dark backgrounds, assigned by
// index; then the same colors hatched. Pure.

const light = [
  '#0f766e',
  '#b45309',
  '#4f46e5',
  '#be185d',
  '#4d7c0f',
  '#0369a1',
  '#9333ea',
  '#c2410c',
  '#15803d',
  '#a21caf',
  '#854d0e',
  '#475569',
];
const dark = [
  '#2dd4bf',
  '#fbbf24',
  '#a5a0ff',
  '#f472b6',
  '#a3e635',
  '#38bdf8',
  '#c084fc',
  '#fb923c',
  '#4ade80',
  '#e879f9',
  '#d6a85c',
  '#94a3b8',
];

/** Returns the color for an index in the palette; gray for undefined. */
export function colourOf(paletteIndex: number | undefined, isDark: boolean): string {
  const colours = isDark ? dark : light;
  return colours[paletteIndex === undefined ? colours.length - 1 : paletteIndex % colours.length]!;
}

export const isHatched = (paletteIndex: number | undefined): boolean =>
  paletteIndex !== undefined && Math.floor(paletteIndex / light.length) % 2 === 1;

/** Distances of the hatching lines from the center of a disc, as shares of its radius. */
const chords = [-0.6, 0, 0.6];

/** Returns the hatching of a disc as a path, to be drawn over it in the background color. */
export function hatching(x: number, y: number, radius: number): string {
  const lines = chords.map((share) => {
    const [off, half] = [share, Math.sqrt(1 - share * share)].map(
      (one) => one * radius * Math.SQRT1_2,
    );
    const [from, to] = [
      `${x + off! - half!} ${y + off! + half!}`,
      `${x + off! + half!} ${y + off! - half!}`,
    ];
    return `M${from}L${to}`;
  });
  return lines.join('');
}
