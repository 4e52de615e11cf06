// Converts a CSV cell to JSON for a row of a bulk load, by the declared type of its column. Returns the
// reason if the cell does not fit.
import type { PropertyType } from '../../engine/internal.js';
import type { ReadDate } from './csv-date.js';

/** Replaces a cell that does not fit its type in a row. */
export interface Refusal {
  param: string;
  allowed: string;
  got: string;
}

/** Converts a cell to JSON. */
export type Print = (cell: string) => string | Refusal;

/** How the bytes of a plain cell can be copied into the row unchanged. */
export type Plain = 'text' | 'integer' | 'none';

/**
 * Copies a number, boolean or list if it is valid JSON. Otherwise the row is refused because of the type.
 */
export const bare: Print = (cell) => {
  try {
    JSON.parse(cell);
    return cell.replace(/[\r\n]/g, ' ');
  } catch {
    return JSON.stringify(cell);
  }
};

export interface CellForm {
  readDate: ReadDate;
  /** Separator between the items of a list. Undefined: a list is JSON. */
  listDelimiter?: string | undefined;
}

export function printOf(type: PropertyType, form: CellForm): Print {
  if (type.kind === 'list') return listPrint(type.of, form);
  if (type.name === 'String' || type.name === 'ID') return JSON.stringify;
  if (type.name === 'Date') return (cell) => printDate(cell, form.readDate);
  return bare;
}

export function plainOf(type: PropertyType): Plain {
  if (type.kind === 'list') return 'none';
  switch (type.name) {
    case 'String':
    case 'ID':
      return 'text';
    case 'Date':
    case 'Boolean':
    case 'Json':
      return 'none';
    default:
      return 'integer';
  }
}

function listPrint(of: PropertyType, form: CellForm): Print {
  const { listDelimiter } = form;
  if (listDelimiter === undefined) return bare;
  const print = printOf(of, form);
  return (cell) => {
    const items: string[] = [];
    for (const item of cell.split(listDelimiter)) {
      const printed = print(item);
      if (typeof printed !== 'string') return printed;
      items.push(printed);
    }
    return `[${items.join(',')}]`;
  };
}

function printDate(cell: string, readDate: ReadDate): string | Refusal {
  const { date, allowed } = readDate(cell.trim());
  return date === undefined ? { param: '', allowed, got: cell } : JSON.stringify(date);
}
