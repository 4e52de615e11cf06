// A line chart of the last two minutes in SVG, with one scale, a label at the highest value, and the newest
// value at the right. The pointer shows the value of a moment.
import { useState } from 'preact/hooks';

interface ChartProps {
  title: string;
  /** Values, oldest first; null for a second without a value. */
  lines: { name: string; values: (number | null)[] }[];
  print: (value: number) => string;
  /** Text next to the values. */
  note?: string;
}

const width = 480;
const height = 120;
/** Number of positions on the time axis. */
const positionCount = 120;

function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= value)!;
}

export function Chart({ title, lines, print, note }: ChartProps) {
  const [under, setUnder] = useState<number | undefined>();
  const length = lines[0]!.values.length;
  const isBlank = lines.every(({ values }) => values.every((one) => one === null));
  const top = niceTop(Math.max(0, ...lines.flatMap(({ values }) => values.map((one) => one ?? 0))));
  const x = (at: number): number => width - ((length - 1 - at) * width) / (positionCount - 1);
  const y = (value: number): number => height - (value / top) * (height - 4) - 1;
  const pathOf = (values: (number | null)[]): string => {
    let pen = 'M';
    let path = '';
    for (const [at, value] of values.entries()) {
      if (value === null) pen = 'M';
      else {
        // A value without neighbors is a dot.
        path += `${pen}${x(at).toFixed(1)} ${y(value).toFixed(1)}${pen === 'M' ? 'h0' : ''}`;
        pen = 'L';
      }
    }
    return path;
  };
  const shown = under === undefined ? length - 1 : under;
  const onMove = (event: MouseEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = 1 - (event.clientX - box.left) / box.width;
    const at = length - 1 - Math.round(share * (positionCount - 1));
    setUnder(at >= 0 && at < length ? at : undefined);
  };
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        {lines.map(({ name, values }, i) => {
          const value = values[shown];
          return (
            <span key={name} class={`line-${i}`}>
              {name} <b>{value === null || value === undefined ? '–' : print(value)}</b>
            </span>
          );
        })}
        {note && <span>{note}</span>}
        <small>{isBlank ? '' : print(top)}</small>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over the last two minutes`}
        onMouseMove={onMove}
        onMouseLeave={() => setUnder(undefined)}
      >
        <path class="grid" d={`M0 1H${width}M0 ${height / 2}H${width}M0 ${height - 1}H${width}`} />
        {lines.map(({ name, values }, i) => (
          <path key={name} class={`line line-${i}`} d={pathOf(values)} />
        ))}
        {under !== undefined && <path class="cursor" d={`M${x(under)} 0V${height}`} />}
      </svg>
    </figure>
  );
}
