// Lines on stderr. Whoever reads them may go away, or stop reading, and the disk of a log may be full: the
// server goes on, and counts the lines that are lost. Invariant: what waits to be read is bounded.
import { fstatSync, writeSync } from 'node:fs';

/** A reader that is further behind gets no more lines. */
const waitingMax = 4 * 2 ** 20;

let lost = 0;

/** Lines that have not arrived. */
export const linesLost = (): number => lost;

function isFile(): boolean {
  try {
    return fstatSync(2).isFile();
  } catch {
    return false;
  }
}

/** Node's stream of a file writes nothing more after it has failed once: a full disk has room again. */
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

/** From here on no line on stderr can end the process. */
export function guardStandardError(): void {
  const write = isFile() ? writeToFile : writeToReader;
  // The callback of the write that failed has counted it.
  process.stderr.on('error', () => undefined);
  console.error = (text: unknown): void => write(`${String(text)}\n`);
}
