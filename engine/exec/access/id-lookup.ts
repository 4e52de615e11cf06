// What an access path is to those that follow it.
import type { Frame } from '../runtime/frame.js';

/**
 * The ids a path leads to, in the order of the rows; undefined: run the plain steps. `counted`:
 * their order does not matter, only their number.
 */
export interface IdLookup {
  (frame: Frame, counted: boolean): Iterable<Uint32Array> | undefined;
  /** Those from a position on, `most` of which are wanted, where that is less to read. */
  from?: (frame: Frame, start: number, most: number) => Iterable<Uint32Array> | undefined;
}
