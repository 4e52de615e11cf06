// Writes lines to stderr. Their reader may close the pipe or stop reading, and the disk of a log may be full.
// The server continues, and counts the lost lines. Invariant: the bytes that wait for the reader are bounded.
import { fstatSync, writeSync } from 'node:fs';

/** Bytes of unread output beyond which a slow reader gets no more lines. */
const waitingMax = 4 * 2 ** 20;

let lost = 0;

/** Returns the number of lost lines. */
export const linesLost = (): number => lost;

function isFile(): boolean {
  try {
    return fstatSync(2).isFile();
  } catch {
    return false;
  }
}

/**
 * Writes to a file directly. Node's stream for a file writes nothing after one failure, but a full disk may
 * get free space again.
 */
function writeToFile(text: string): void {
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(2, bytes, at);
  } catch {
    lost++;
  }
}

function writeToReader(text: string): void {
  const { stderr } = process;
  if (stderr.writableLength > waitingMax) {
    lost++;
    return;
  }
  try {
    stderr.write(text, (error) => {
      if (error) lost++;
    });
  } catch {
    lost++;
  }
}

/** From here on, no line on stderr can end the process. */
export function protectStandardError(): void {
  const write = isFile() ? writeToFile : writeToReader;
  // The callback of the failed write has already counted the line.
  process.stderr.on('error', () => undefined);
  console.error = (text: unknown): void => write(`${String(text)}\n`);
}
