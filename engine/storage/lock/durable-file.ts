// Files and folders that are there after a power cut (operations.md N14).
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Replaces a file so that after a power cut it is the old one or the new one. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const unfinished = `${path}.tmp`;
  const file = openSync(unfinished, 'w', 0o600);
  try {
    const bytes = Buffer.from(content as Uint8Array);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  syncPath(dirname(path));
}

/** A new folder is found after a power cut when the one that names it is on the disk. */
export function syncAbove(path: string, first: string): void {
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    syncPath(dirname(made));
  }
}

/** What was written under a path is there after a power cut; of a folder what it names. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
