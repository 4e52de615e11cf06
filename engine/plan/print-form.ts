// [compat] Information of a value's static type that its printing needs and that a running plan
// does not have: which numbers are floats (`5.0`), which lists are groups. Elements print by their
// declared types and need no form.
// Invariant: a form changes only how a value is printed, never the value.

export type Form =
  | { kind: 'float' }
  | { kind: 'list'; of: Form }
  /** Members without a form are left out. */
  | { kind: 'record'; members: ReadonlyMap<string, Form> }
  /** A list of group records with these members, printed as one object. */
  | { kind: 'groups'; of: Groups; members: ReadonlyMap<string, Form> };

export interface Groups {
  /** HelixDB's name for plain groups, and for groups with COUNT. */
  word: 'Group' | 'Count';
  /** True for AGGREGATE_BY: the items of each group are printed. */
  data: boolean;
}
