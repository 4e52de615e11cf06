// What the thread that reads long answers of providers is asked for. Invariant: nothing native is loaded here, so
// that the thread may be ended whatever it does.
import { type ErrorData, errorDataOf } from '../base/errors.js';
import { type BodyTask, vectorsIn } from './answer-body.js';

export type BodyReport = { vectors: Float64Array[] } | { error: ErrorData; stack?: string };

export default function read(task: BodyTask): BodyReport {
  try {
    return { vectors: vectorsIn(task) };
  } catch (error) {
    return errorDataOf(error);
  }
}
