// What expressions are compiled to: closures over a frame.
import type { ByteWriter } from '../../base/bytes.js';
import type { Frame } from './frame.js';
import type { Value } from './value.js';

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;

/** A compiled expression whose value goes straight into the reply. */
export type Print = (frame: Frame, out: ByteWriter) => void;

/**
 * How whole elements are printed: whether vectors carry their embedding, and what `score` means.
 */
export interface PrintStyle {
  data: boolean;
  compat: boolean;
}
