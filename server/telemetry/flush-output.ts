// The end of what commands print: whether it has arrived where it goes. Invariant: who waits for it here
// loses nothing to the exit of the process, and hears when something is lost all the same.
import { guardStandardError } from './standard-error.js';

/** A log that nobody reads must not keep a server from ending. */
const logMs = 1_000;

/** Why not all has arrived. */
let fault: Error | undefined;
function note(error: Error): void {
  // A reader that has gone, as `head` does, wanted no more.
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') fault ??= error;
}

/** From here on it is noticed what takes nothing more: the console of Node keeps full disks to itself. */
export function watchPrinting(): void {
  guardStandardError();
  process.stdout.on('error', note);
  console.log = (text: string): void => {
    try {
      process.stdout.write(`${text}\n`);
    } catch (error) {
      note(error as Error);
    }
  };
}

/** Resolves when the reader of a pipe has taken what was written to it, or has gone. */
const taken = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });

/** Waits for who reads stdout, and shortly for who reads stderr. Gives what kept something from arriving. */
export async function printed(): Promise<Error | undefined> {
  await taken(process.stdout);
  const late = new Promise<void>((resolve) => setTimeout(resolve, logMs));
  await Promise.race([taken(process.stderr), late]);
  return fault;
}
