// Computes the two principal directions of a set of vectors, and the position of each vector on them. It uses
// power iteration from fixed start values, so that the same rows give the same positions.

/** Maximum number of rows from which the directions are computed. All rows get positions. */
const rowsMax = 1_000;
const roundsMax = 100;
/** The iteration ends when the directions change less than this. */
const still = 1e-10;

type Row = Float64Array;

/** Returns the coordinates of every row, alternating x and y. The farthest row is at a distance of 1. */
export function coordinatesOf(rows: readonly Row[], tick: (rows: number) => void): Float64Array {
  const coordinates = new Float64Array(2 * rows.length);
  const dimension = rows[0]?.length ?? 0;
  if (dimension === 0) return coordinates;
  const centre = centreOf(rows, dimension);
  const step = Math.max(1, rows.length / rowsMax);
  const some = Array.from(
    { length: Math.min(rows.length, rowsMax) },
    (_, at) => rows[Math.floor(at * step)]!,
  );
  const axes = axesOf(some, centre, tick);
  let farthest = 0;
  for (const [at, row] of rows.entries()) {
    for (const [axis, direction] of axes.entries()) {
      const coordinate = along(row, centre, direction);
      coordinates[2 * at + axis] = coordinate;
      farthest = Math.max(farthest, Math.abs(coordinate));
    }
  }
  if (farthest > 0) for (let i = 0; i < coordinates.length; i++) coordinates[i]! /= farthest;
  return coordinates;
}

function centreOf(rows: readonly Row[], dimension: number): Row {
  const centre = new Float64Array(dimension);
  for (const row of rows) for (let i = 0; i < dimension; i++) centre[i]! += row[i]! / rows.length;
  return centre;
}

function along(row: Row, centre: Row, direction: Row): number {
  let sum = 0;
  for (let i = 0; i < direction.length; i++) sum += (row[i]! - centre[i]!) * direction[i]!;
  return sum;
}

/** Both directions turn together and stay orthogonal. */
function axesOf(rows: readonly Row[], centre: Row, tick: (rows: number) => void): Row[] {
  const { length } = centre;
  // Start values without a pattern that is likely in data.
  let axes = [1, 2].map((no) =>
    Float64Array.from(centre, (_, i) => Math.sin((i + 1) * no * 12.9898)),
  );
  atRightAngles(axes);
  for (let round = 0; round < roundsMax; round++) {
    const next = axes.map(() => new Float64Array(length));
    for (const row of rows) {
      for (const [axis, direction] of axes.entries()) {
        const share = along(row, centre, direction);
        const sum = next[axis]!;
        for (let i = 0; i < length; i++) sum[i]! += share * (row[i]! - centre[i]!);
      }
    }
    tick(rows.length);
    atRightAngles(next);
    const turned = next.map((direction, axis) => 1 - Math.abs(dot(direction, axes[axis]!)));
    axes = next;
    if (Math.max(...turned) < still) break;
  }
  for (const direction of axes) faceForward(direction);
  return axes;
}

function dot(a: Row, b: Row): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Makes the directions orthogonal, of length 1. A direction without variance becomes 0. */
function atRightAngles([first, second]: Row[]): void {
  const before = Math.sqrt(dot(second!, second!));
  unify(first!, 0);
  const share = dot(first!, second!);
  for (let i = 0; i < second!.length; i++) second![i]! -= share * first![i]!;
  // A remainder of rounding has no direction.
  unify(second!, before * 1e-12);
}

function unify(direction: Row, minLength: number): void {
  const size = Math.sqrt(dot(direction, direction));
  for (let i = 0; i < direction.length; i++) {
    direction[i] = size > minLength ? direction[i]! / size : 0;
  }
}

/** A direction and its opposite are equivalent. Chooses the one whose largest number is positive. */
function faceForward(direction: Row): void {
  const largest = direction.reduce((max, one) => (Math.abs(one) > Math.abs(max) ? one : max), 0);
  if (largest < 0) for (let i = 0; i < direction.length; i++) direction[i] = -direction[i]!;
}
