// [compat] What a value's static type says about its print where a running plan cannot tell: which
// numbers are floats (`5.0`), which lists are groups. Elements print by their declared types and need
// no form. Invariant: a form never changes what a value is, only how it is printed.

export type Form =
  | { kind: 'float' }
  | { kind: 'list'; of: Form }
  /** Members without a form of their own are left out. */
  | { kind: 'record'; members: ReadonlyMap<string, Form> }
  /** A list of group records with these members, printed as one object. */
  | { kind: 'groups'; of: Groups; members: ReadonlyMap<string, Form> };

export interface Groups {
  /** HelixDB's name for plain groups, and for those asked for with COUNT in front. */
  word: 'Group' | 'Count';
  /** AGGREGATE_BY: the items of each group. */
  data: boolean;
}
