// The result of `trellis check` and the reply of `POST /_admin/check`: diagnostics of the sources, and what
// their schema would change in the stored data. Prints the part about data.
import type { Diagnostic, SchemaPreview } from '../../engine/internal.js';

/** Effect of the schema on the stored data. `unknown` has the reason in `message`. */
export type DataReport = SchemaPreview | { status: 'unknown'; code: string; message: string };

export interface CheckReport {
  diagnostics: readonly Diagnostic[];
  /** Absent without data, and if the sources have an error. */
  data?: DataReport;
}

/**
 * Returns the lines to print. `isServed`: a running server has the data, and a reload would apply the
 * sources.
 */
export function dataLines(data: DataReport, isServed: boolean): string[] {
  if (data.status === 'unknown') return [`data: not compared. ${data.message}`];
  const versions =
    data.from === data.to ? `schema::${data.to}` : `schema::${data.from} => schema::${data.to}`;
  const next = isServed ? 'the next reload' : 'the next start';
  const refused = isServed
    ? 'a reload would fail, and the server would continue unchanged'
    : 'a server would not start, and nothing would change';
  const heads = {
    same: `data: up to date (${versions})`,
    compatible: `data: compatible (${versions}); ${next} applies the changes`,
    migrates: `data: ${next} migrates (${versions}), all or nothing`,
    refused: `data: refused (${versions}); ${refused}`,
  };
  const lines = [heads[data.status], ...data.changes.map((change) => `  ${change}`)];
  return data.status === 'refused' ? [...lines, `  refused: ${refusalText(data)}`] : lines;
}

export function refusalText({ refusal }: SchemaPreview): string {
  return [refusal!.message, ...(refusal!.hint === undefined ? [] : [refusal!.hint])].join(' ');
}
