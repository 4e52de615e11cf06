// Interfaces of session tools: what a tool receives, and the work that it returns. A tool is pure: it only
// reads the session, and the work is data.
import type { Limits } from '../base/limits.js';
import type { Argument } from '../json/decoded-argument.js';
import type { Plan } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import type { Arguments } from './argument/tool-argument.js';
import { flag } from './argument/argument-value.js';
import type { Traversal } from './session.js';
import type { Vocabulary } from './argument/vocabulary.js';

/**
 * Effect of successful work on the traversal. `replace`: the items that the plan returns, or no items if
 * there is no plan.
 */
export type After = 'keep' | 'blank' | 'replace';

export type Work =
  /** The reply is known without running a plan. */
  | { kind: 'answer'; body: string; after: After }
  /** Runs the plan over the session's items. With `embed`, the vector of its text is the only argument. */
  | {
      kind: 'run';
      plan: Plan;
      args: readonly Argument[];
      embed?: { text: string; type: string };
      after: After;
    }
  /** Return the item at the cursor. */
  | { kind: 'next'; data: boolean };

/** Information for tools besides their arguments. */
export interface Toolbox {
  program: Program;
  vocabulary: Vocabulary;
  limits: Limits;
  textEnabled: boolean;
  /** Default format of `schema_resource`. */
  schemaFormat: 'object' | 'string';
}

/** The session that calls a tool, as the tool reads it. */
export interface Caller {
  readonly id: string;
  readonly traversal: Traversal;
}

export type Tool = (args: Arguments, caller: Caller, toolbox: Toolbox) => Work;

/** Returns true if items are returned with their vector `data`. */
export function includeData(args: Arguments): boolean {
  return flag(args, 'include_data', false);
}
