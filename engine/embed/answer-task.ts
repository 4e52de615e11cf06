// Task of the thread that parses long responses of providers.
// Invariant: this module loads no native code, so that the thread can be terminated at any time.
import { type ErrorData, toErrorData } from '../base/errors.js';
import { type BodyTask, vectorsIn } from './answer-body.js';

export type BodyReport = { vectors: Float64Array[] } | { error: ErrorData; stack?: string };

export default function read(task: BodyTask): BodyReport {
  try {
    return { vectors: vectorsIn(task) };
  } catch (error) {
    return toErrorData(error);
  }
}
