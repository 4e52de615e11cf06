// The functions that chains may begin with, by name, and what they are called elsewhere.
import type { Call } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import type { Scope } from '../type/scope.js';
import type { Term } from '../type/term.js';
import { checkCoalesce, checkIf } from './branch.js';
import {
  checkDateFunction,
  checkTextFunction,
  dateFunctions,
  textFunctions,
} from './scalar-function.js';

type FunctionChecker = (context: Context, call: Call, scope: Scope) => Term;

export const functions: Record<string, FunctionChecker> = {
  IF: checkIf,
  COALESCE: checkCoalesce,
  ...Object.fromEntries(textFunctions.map((name) => [name, checkTextFunction])),
  ...Object.fromEntries(dateFunctions.map((name) => [name, checkDateFunction])),
};

/** Hints for names of other languages, in capitals without underscores. */
export const foreignFunctions = new Map([
  ['ISNULL', 'Write `x::EQ(NONE)`.'],
  ['ISNOTNULL', 'Write `x::NEQ(NONE)`.'],
  ['IFNULL', 'Write `COALESCE(a, b)`.'],
  ['NVL', 'Write `COALESCE(a, b)`.'],
  ['CASE', 'Write `IF(condition, a, b)`.'],
  ['UNIONALL', 'Write `UNION(a, b)`: every item comes once.'],
  ['DATEDIFF', 'Write `DATE_DIFF(from, to, "day")`.'],
  ['DATEADD', 'Write `DATE_ADD(date, 30, "day")`.'],
  ['DATETRUNC', 'Write `TRUNC(date, "month")`.'],
  ['LCASE', 'Write `LOWER(text)`.'],
  ['UCASE', 'Write `UPPER(text)`.'],
  ['TOLOWER', 'Write `LOWER(text)`.'],
  ['TOUPPER', 'Write `UPPER(text)`.'],
  ['SUBSTR', 'Write `SUBSTRING(text, 0, 20)`.'],
]);
