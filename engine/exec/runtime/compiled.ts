// Defines the closures to which expressions are compiled.
import type { ByteWriter } from '../../base/bytes.js';
import type { Frame } from './frame.js';
import type { Value } from './value.js';

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;

/** A compiled expression that prints its value directly into the reply. */
export type Print = (frame: Frame, out: ByteWriter) => void;

/**
 * How elements are printed: whether vectors print their numbers when requested, whether elements have HelixDB
 * 2's members ([compat]), and whether floats have a fraction.
 */
export interface PrintStyle {
  data: boolean;
  compat: boolean;
  fractions: boolean;
}
