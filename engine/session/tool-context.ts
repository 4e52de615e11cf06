// From a tool's name and arguments to the work to be done for it: what a tool is, what it knows,
// and what it may ask for. Deciding is pure: what is to be run is data, and the session is only
// read.
import type { Limits } from '../base/limits.js';
import type { Argument } from '../json/decoded-argument.js';
import type { Plan } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import type { Arguments } from './argument/tool-argument.js';
import { flag } from './argument/argument-value.js';
import type { Traversal } from './session.js';
import type { Vocabulary } from './argument/vocabulary.js';

/**
 * What becomes of the traversal when the work has succeeded. `replace`: the items that the plan
 * kept, none without one.
 */
export type After = 'keep' | 'blank' | 'replace';

export type Work =
  /** The reply is known. */
  | { kind: 'answer'; body: string; after: After }
  /**
   * Run the plan over the session's items. `embed`: this text's vector becomes the only argument.
   */
  | {
      kind: 'run';
      plan: Plan;
      args: readonly Argument[];
      embed?: { text: string; type: string };
      after: After;
    }
  /** Answer the item at the cursor. */
  | { kind: 'next'; data: boolean };

/** What the tools know besides their arguments. */
export interface Toolbox {
  program: Program;
  vocabulary: Vocabulary;
  limits: Limits;
  textEnabled: boolean;
  /** The form of `schema_resource` when a call does not say. */
  schemaFormat: 'object' | 'string';
}

/** What a tool sees of the session that calls it. */
export interface Caller {
  readonly id: string;
  readonly traversal: Traversal;
}

export type Tool = (args: Arguments, caller: Caller, toolbox: Toolbox) => Work;

/** Whether items are answered with their vector `data`. */
export function includeData(args: Arguments): boolean {
  return flag(args, 'include_data', false);
}
