// The values a plan is run with: what request bodies and sessions are decoded into.
import type { Scalar, ScalarList } from '../base/value.js';

/** A decoded argument: scalar, list, or object as a Map from member name. */
export type Argument = Scalar | ScalarList | readonly Argument[] | ReadonlyMap<string, Argument>;
