// Names of the functions that expressions call.
export type MathFunction =
  | 'ADD'
  | 'SUB'
  | 'MUL'
  | 'ABS'
  | 'DIV'
  | 'MOD'
  | 'POW'
  | 'SQRT'
  | 'LN'
  | 'LOG10'
  | 'LOG'
  | 'EXP'
  | 'SIN'
  | 'COS'
  | 'TAN'
  | 'ASIN'
  | 'ACOS'
  | 'ATAN'
  | 'ATAN2'
  | 'PI'
  | 'E'
  | 'CEIL'
  | 'FLOOR'
  | 'ROUND'
  | 'MIN'
  | 'MAX';

export type TextFunction =
  | 'LOWER'
  | 'UPPER'
  | 'TRIM'
  | 'LENGTH'
  | 'CONCAT'
  | 'SUBSTRING'
  | 'REPLACE'
  | 'SPLIT'
  /** Only as a step: a part of a Json. */
  | 'GET';

export type DateFunction = 'YEAR' | 'MONTH' | 'DAY' | 'HOUR' | 'TRUNC' | 'DATE_ADD' | 'DATE_DIFF';
