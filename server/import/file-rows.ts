// Describes a file of an import: its name, the kind of its rows, and hashes of its first rows.
import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import type { LoadedFile } from '../../engine/internal.js';
import type { ImportFile } from './import-file.js';

const bytesRead = 256 * 1024;

/** Number of first rows that are hashed, for one file and for all files of an import. */
const rowsOfOne = 64;
const rowsOfAll = 4096;

export function loadedFiles(files: readonly ImportFile[]): LoadedFile[] {
  const max = Math.max(4, Math.min(rowsOfOne, Math.floor(rowsOfAll / files.length)));
  return files.map(({ path, type, form, header, settings, isEdges }) => {
    const as = type === undefined ? '' : ` (${type.kind} ${type.name})`;
    const hasHeader = form !== undefined && header === undefined;
    return {
      name: `${basename(path)}${as}`,
      rows: firstRows(path, max, hasHeader ? 1 : 0),
      isUpsert: isEdges ? type?.kind === 'edge' && type.unique : settings.upsert !== undefined,
    };
  });
}

function firstRows(path: string, max: number, skipped: number): number[] {
  const bytes = Buffer.alloc(bytesRead);
  const file = openSync(path, 'r');
  let size: number;
  try {
    size = readSync(file, bytes, 0, bytesRead, 0);
  } finally {
    closeSync(file);
  }
  // An incomplete last line and blank lines are left out.
  const text = bytes.subarray(0, size).toString('latin1');
  const lines = text.split(/\r\n|\n|\r/, max + skipped + 1).slice(skipped, max + skipped);
  return lines.filter((line) => line !== '').map((line) => crc32(line));
}
