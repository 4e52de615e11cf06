// The values that a plan runs with. Request bodies and session calls are decoded into them.
import type { Scalar, ScalarList } from '../base/value.js';

/** A decoded argument: scalar, list, or object as a Map from member name. */
export type Argument = Scalar | ScalarList | readonly Argument[] | ReadonlyMap<string, Argument>;
