// Reads the standard input of this process to its end.
// Invariant: the input of a slow writer is whole. If the input is a non-blocking pipe, as between two Node
// processes, `readFileSync(0)` fails with EAGAIN instead when the next bytes have not arrived.
import { readSync } from 'node:fs';

const chunkBytes = 65_536;
/** Milliseconds between two attempts to read. */
const waitMs = 2;

const sleepCell = new Int32Array(new SharedArrayBuffer(4));

export function readStandardInput(): Buffer {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const count = readChunk(chunk);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, count));
  }
}

/** Returns the number of bytes that were read, after a wait if there are none yet; 0 at the end. */
function readChunk(chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(0, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(sleepCell, 0, 0, waitMs);
    }
  }
}
