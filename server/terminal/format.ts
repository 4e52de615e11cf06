// How messages for people word numbers and places.
import { relative, sep } from 'node:path';

/** `1 error`, `2 errors`; a plural that is not made by `s` is said. */
export function counted(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}

/** Returns a path relative to the working directory. Terminals open such paths on a click. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  if (near === '') return '.';
  return near.startsWith(`..${sep}..`) || near.length > path.length ? path : near;
}
