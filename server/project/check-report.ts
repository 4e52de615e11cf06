// What `trellis check` finds: faults of the sources, and what their schema means for stored data. The
// answer of `POST /_admin/check` too, and how the part about data is printed for people.
import type { Diagnostic, SchemaPreview } from '../../engine/index.js';

/** What is known of the stored data; `unknown` with the reason in `message`. */
export type DataReport = SchemaPreview | { status: 'unknown'; code: string; message: string };

export interface CheckReport {
  diagnostics: readonly Diagnostic[];
  /** Absent without data, and beside an error in the sources. */
  data?: DataReport;
}

/** `isServed`: a running server was asked, which would take the sources at a reload. */
export function dataLines(data: DataReport, isServed: boolean): string[] {
  if (data.status === 'unknown') return [`data: not compared. ${data.message}`];
  const versions =
    data.from === data.to ? `schema::${data.to}` : `schema::${data.from} => schema::${data.to}`;
  const next = isServed ? 'the next reload' : 'the next start';
  const refused = isServed
    ? 'a reload would change nothing, and the server goes on as it is'
    : 'a server would not start, nothing would change';
  const heads = {
    same: `data: up to date (${versions})`,
    compatible: `data: compatible (${versions}); ${next} takes over`,
    migrates: `data: ${next} migrates (${versions}), all or nothing`,
    refused: `data: refused (${versions}); ${refused}`,
  };
  const lines = [heads[data.status], ...data.changes.map((change) => `  ${change}`)];
  return data.status === 'refused' ? [...lines, `  refused: ${refusalText(data)}`] : lines;
}

export function refusalText({ refusal }: SchemaPreview): string {
  return [refusal!.message, ...(refusal!.hint === undefined ? [] : [refusal!.hint])].join(' ');
}
