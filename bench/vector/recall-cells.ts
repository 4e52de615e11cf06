// Chooses the cells of the recall grid. Every combination would be 11,664 builds. Metric, spread and norms
// are combined completely. The other axes vary so that any two values of two axes meet in some cell.
// Invariant: the same selection always gives the same cells.
import { type Cell, type Selection, wholeGrid } from './recall-axes.js';

const axes = Object.keys(wholeGrid) as (keyof Cell)[];

/** All combinations of the values of `chosen` axes. */
function product(selection: Selection, chosen: readonly (keyof Cell)[]): Partial<Cell>[] {
  let cells: Partial<Cell>[] = [{}];
  for (const axis of chosen)
    cells = cells.flatMap((cell) => selection[axis].map((value) => ({ ...cell, [axis]: value })));
  return cells;
}

/** Every two values of different axes that meet in a cell. */
export function pairsOf(cell: Cell): string[] {
  return axes.flatMap((a, i) => axes.slice(i + 1).map((b) => `${a} ${cell[a]}, ${b} ${cell[b]}`));
}

export const everyCell = (selection: Selection): Cell[] => product(selection, axes) as Cell[];

/** Cells in which every pair of the selection's values meets; greedy, the first best is taken. */
export function pairedCells(selection: Selection): Cell[] {
  const turns = product(selection, ['dimension', 'layout', 'history']);
  const met = new Map<string, number>();
  return product(selection, ['metric', 'spread', 'norms']).map((base) => {
    let best: { cell: Cell; pairs: string[]; worth: number } | undefined;
    for (const turn of turns) {
      const cell = { ...base, ...turn } as Cell;
      const pairs = pairsOf(cell);
      // A pair that is new counts most; then the rarer ones, so that all are met equally often.
      const worth = pairs.reduce((sum, pair) => sum + 1 / (1 + 8 * (met.get(pair) ?? 0)), 0);
      if (best === undefined || worth > best.worth) best = { cell, pairs, worth };
    }
    for (const pair of best!.pairs) met.set(pair, (met.get(pair) ?? 0) + 1);
    return best!.cell;
  });
}

export const nameOf = ({ metric, spread, norms: norm, dimension, layout, history }: Cell): string =>
  `${metric} spread ${spread} ${norm} ${dimension}d ${layout} ${history}`;
