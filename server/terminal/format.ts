// Formats numbers and paths in messages for people.
import { relative, sep } from 'node:path';

/** Returns `1 error` or `2 errors`. Pass a plural that does not end in `s`. */
export function counted(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}

/** Returns a path relative to the working directory. Terminals open such paths on a click. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  if (near === '') return '.';
  return near.startsWith(`..${sep}..`) || near.length > path.length ? path : near;
}
