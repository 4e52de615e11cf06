// The options that decide how the sources of a project are compiled. The sources come from its files, or from
// a request.
import type { Limits } from '../../engine/internal.js';

interface CompileRules {
  compat: boolean;
  limits: Limits;
  scattered?: ReadonlySet<string>;
}

/** Picks the compile rules from the options of a project. */
export const rulesOf = ({ compat, limits, scattered }: CompileRules): CompileRules => {
  return { compat, limits, ...(scattered && { scattered }) };
};
