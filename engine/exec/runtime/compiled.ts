// What expressions are compiled to: closures over a frame.
import type { ByteWriter } from '../../base/bytes.js';
import type { Frame } from './frame.js';
import type { Value } from './value.js';

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;

/** A compiled expression whose value goes straight into the reply. */
export type Print = (frame: Frame, out: ByteWriter) => void;

/**
 * How elements are printed: whether vectors carry their embedding when asked for, whether they have
 * HelixDB 2's members ([compat]), and whether floats have a fraction.
 */
export interface PrintStyle {
  data: boolean;
  compat: boolean;
  fractions: boolean;
}
