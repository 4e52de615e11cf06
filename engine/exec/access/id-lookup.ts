// Defines the result of an access path.
import type { Frame } from '../runtime/frame.js';

/**
 * Returns the ids of a path in row order, or undefined when the plain steps must run. With `counted`, the
 * caller needs only their number, so the order is free.
 */
export interface IdLookup {
  (frame: Frame, counted: boolean): Iterable<Uint32Array> | undefined;
  /**
   * Returns the ids from position `start` on, of which `max` are wanted, if that reads less. Otherwise
   * undefined.
   */
  from?: (frame: Frame, start: number, max: number) => Iterable<Uint32Array> | undefined;
}
