// Shows rows of a result as a table, with columns in the order in which members first occur, and numbers
// aligned to the right. Draws a bounded number of rows, and more on request.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { printValue } from '../model/lossless-json.js';
import { whole } from '../model/format-number.js';
import { isId } from '../model/item.js';
import { shortened } from '../model/short-text.js';
import { linkTo } from '../state/router.js';

const pageRowsMax = 1_000;
/** Maximum number of cells drawn at a time. Tables with many columns draw fewer rows. */
const pageCellsMax = 8_000;
const columnsMax = 40;
const cellMax = 300;
const titleMax = 2_000;

type Row = Record<string, unknown>;

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members of a result that are tables: name and rows. */
export function tablesIn(value: unknown): [name: string, rows: Row[]][] {
  if (Array.isArray(value)) return value.some(isRow) ? [['', value.filter(isRow)]] : [];
  if (!isRow(value)) return [];
  return Object.entries(value).flatMap(([name, member]): [string, Row[]][] => {
    if (Array.isArray(member)) {
      return [[name, member.map((item) => (isRow(item) ? item : { value: item }))]];
    }
    return isRow(member) ? [[name, [member]]] : [];
  });
}

export function Table({ rows }: { rows: Row[] }) {
  const names = new Set<string>();
  for (const row of rows.slice(0, 1000)) {
    for (const name of Object.keys(row)) if (names.size < columnsMax) names.add(name);
  }
  const columns = [...names];
  const step = Math.min(pageRowsMax, Math.ceil(pageCellsMax / Math.max(1, columns.length)));
  const [pages, setPages] = useState(1);
  const shownMax = pages * step;
  const numeric = new Set(columns.filter((name) => isNumeric(rows, name)));
  const foot = useRef<HTMLButtonElement>(null);
  useReached(foot, [pages, rows], () => setPages(pages + 1));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Result as a table">
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" class={numeric.has(name) ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shownMax).map((row, at) => (
            <tr key={at}>
              {columns.map((name) => (
                <Cell key={name} value={row[name]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shownMax && (
        <button ref={foot} type="button" class="quiet" onClick={() => setPages(pages + 1)}>
          {whole(rows.length - shownMax)} more rows
        </button>
      )}
    </div>
  );
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'bigint';

/** Returns whether a column has only numbers in the first rows. */
function isNumeric(rows: readonly Row[], name: string): boolean {
  const values = rows.slice(0, 100).map((row) => row[name] ?? undefined);
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 && known.every(isNumber);
}

/** Runs `work` when the end of the table is scrolled into view. */
function useReached(
  foot: RefObject<Element | null>,
  changes: readonly unknown[],
  reached: () => void,
): void {
  useEffect(() => {
    if (foot.current === null) return undefined;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry!.isIntersecting) reached();
    });
    observer.observe(foot.current);
    return () => observer.disconnect();
  }, changes);
}

function Cell({ value }: { value: unknown }) {
  if (value === undefined) return <td />;
  if (value === null) return <td class="null">null</td>;
  if (isNumber(value)) {
    return <td class="number">{String(value)}</td>;
  }
  if (isId(value)) {
    return (
      <td class="mono">
        <a href={linkTo('graph', '', { around: value })} title={value}>
          …{value.slice(-8)}
        </a>
      </td>
    );
  }
  const text = printValue(value);
  return (
    <td>
      <span class="clip" title={shortened(text, titleMax)}>
        <bdi>{shortened(text, cellMax)}</bdi>
      </span>
    </td>
  );
}
