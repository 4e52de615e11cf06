// Rows of an answer as a table: columns in the order in which members come first, numbers aligned at the
// right. Draws a bounded number of rows, more on demand.
import { useState } from 'preact/hooks';
import { whole } from '../model/figures.js';
import { isId } from '../model/item.js';
import { linkTo } from '../state/router.js';

const rowsAtOnce = 200;
const columnsMax = 40;
const cellMax = 300;

type Row = Record<string, unknown>;

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members of an answer that are tables: name and rows. */
export function tablesIn(value: unknown): [name: string, rows: Row[]][] {
  if (Array.isArray(value)) return value.some(isRow) ? [['', value.filter(isRow)]] : [];
  if (!isRow(value)) return [];
  return Object.entries(value).flatMap(([name, member]): [string, Row[]][] => {
    if (Array.isArray(member)) {
      const rows = member.map((item) => (isRow(item) ? item : { value: item }));
      return member.length > 0 ? [[name, rows]] : [];
    }
    return isRow(member) ? [[name, [member]]] : [];
  });
}

export function Table({ rows }: { rows: Row[] }) {
  const [most, setMost] = useState(rowsAtOnce);
  const names = new Set<string>();
  for (const row of rows.slice(0, 1000)) {
    for (const name of Object.keys(row)) if (names.size < columnsMax) names.add(name);
  }
  const columns = [...names];
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="The answer as a table">
        <table>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, at) => (
              <tr key={at}>
                {columns.map((name) => (
                  <Cell key={name} value={row[name]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + 1000)}>
          {whole(rows.length - most)} more rows
        </button>
      )}
    </>
  );
}

function Cell({ value }: { value: unknown }) {
  if (value === undefined || value === null) return <td class="null">–</td>;
  if (typeof value === 'number' || typeof value === 'bigint') {
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
  const text = typeof value === 'string' ? value : JSON.stringify(value, printWide);
  return (
    <td>
      <span class="clip" title={text.slice(0, 2000)}>
        <bdi>{text.slice(0, cellMax)}</bdi>
      </span>
    </td>
  );
}

const printWide = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;
