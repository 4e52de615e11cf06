// Ensures that the output of commands arrives. Invariant: a command that waits here loses no output when the
// process exits, and learns of any output that was lost.
import { protectStandardError } from './standard-error.js';

/**
 * Milliseconds to wait for stderr: a log that no process reads must not keep a server from ending.
 */
const logMs = 1_000;

/** The first error that kept output from arriving. */
let failure: Error | undefined;
function note(error: Error): void {
  // A reader that closed its pipe, such as `head`, needs no more.
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') failure ??= error;
}

/** Records write errors of stdout from here on. Node's own console hides a full disk. */
export function watchPrinting(): void {
  protectStandardError();
  process.stdout.on('error', note);
  console.log = (text: string): void => {
    try {
      process.stdout.write(`${text}\n`);
    } catch (error) {
      note(error as Error);
    }
  };
}

/** Resolves when the reader of a pipe has taken what was written, or has closed the pipe. */
const taken = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });

/**
 * Waits for the reader of stdout, and at most `logMs` for that of stderr. Returns the error that kept output
 * from arriving, or undefined.
 */
export async function printed(): Promise<Error | undefined> {
  await taken(process.stdout);
  const late = new Promise<void>((resolve) => setTimeout(resolve, logMs));
  await Promise.race([taken(process.stderr), late]);
  return failure;
}
