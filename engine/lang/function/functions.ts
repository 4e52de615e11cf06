// The functions that may begin a chain, by name, and hints for their names in other languages.
import type { Call } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import type { Scope } from '../type/scope.js';
import type { TypedExpr } from '../type/typed-expression.js';
import { checkCoalesce, checkIf } from './branch-function.js';
import {
  checkDateFunction,
  checkTextFunction,
  dateFunctions,
  textFunctions,
} from './scalar-function.js';

type FunctionChecker = (context: Context, call: Call, scope: Scope) => TypedExpr;

export const functions: Record<string, FunctionChecker> = {
  IF: checkIf,
  COALESCE: checkCoalesce,
  ...Object.fromEntries(textFunctions.map((name) => [name, checkTextFunction])),
  ...Object.fromEntries(dateFunctions.map((name) => [name, checkDateFunction])),
};

const addHint = 'Write `AddN<Type>({property: value})`.';
const edgeHint = 'Write `AddE<Type>({property: value})::From(a)::To(b)`.';
const nearestHint = 'Write `SearchV<Type>(vector, k)`.';
const bothHint =
  'Write `RerankRRF(SearchV<Type>(vector, k), SearchBM25<Type>(text, k))::RANGE(0, k)`.';
const wordsHint = 'Write `SearchBM25<Type>(text, k)`.';

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
  ['LOWERCASE', 'Write `LOWER(text)`.'],
  ['TOLOWERCASE', 'Write `LOWER(text)`.'],
  ['UPPERCASE', 'Write `UPPER(text)`.'],
  ['TOUPPERCASE', 'Write `UPPER(text)`.'],
  ['ADDNODE', addHint],
  ['ADDVERTEX', addHint],
  ['CREATENODE', addHint],
  ['ADDEDGE', edgeHint],
  ['CREATEEDGE', edgeHint],
  ['ADDVECTOR', 'Write `AddV<Type>(vector, {property: value})`.'],
  ['SEARCHVECTOR', nearestHint],
  ['VECTORSEARCH', nearestHint],
  ['KNN', nearestHint],
  ['HYBRIDSEARCH', bothHint],
  ['SEARCHHYBRID', bothHint],
  ['SEARCHTEXT', wordsHint],
  ['SEARCHKEYWORD', wordsHint],
  ['BM25', wordsHint],
  ['SUBSTR', 'Write `SUBSTRING(text, 0, 20)`.'],
]);
