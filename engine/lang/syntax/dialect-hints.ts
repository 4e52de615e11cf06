// Hints for words and symbols of other query languages. Read only after an error: nothing in this file makes
// a source valid or invalid.

/** Parses lines of `words => hint`; an indented line continues the hint before. */
const table = (text: string): Map<string, string> =>
  new Map(
    text
      .trim()
      .replace(/\n {4,}/g, ' ')
      .split('\n')
      .flatMap((line) => {
        const at = line.indexOf(' => ');
        const [words, hint] = [line.slice(0, at), line.slice(at + 4)];
        return words
          .trim()
          .split(' ')
          .map((word) => [word, hint.trim()] as const);
      }),
  );

/** Hints about syntax that several rules use. */
export const formHints = {
  item: 'The item at hand is `_`: write `_::{property}`.',
  query: 'A query is written `QUERY name(parameter: Type) => … RETURN value`.',
  migration: 'Write `MIGRATION schema::1 => schema::2 { … }`.',
  change: 'A property is changed by `x::UPDATE({property: value})`.',
};

/** Words where an expression or a statement is expected, or between two of them; in lower case. */
const words = table(`
  select match find from => A source reads a type: \`x <- N<Type>\`, then \`::WHERE(…)\`,
      \`::{property}\`.
  where filter having => A condition is a step: \`x::WHERE(_::{property}::EQ(value))\`.
  insert create new add => Write \`AddN<Type>({property: value})\`, \`AddE<…>\` or \`AddV<…>\`.
  merge upsert => Write \`N<Type>({property: value})::UpsertN({…})\`.
  delete remove detach drop => Write \`DROP\`, then what is to be deleted.
  update set => Write \`x::UPDATE({property: value})\`.
  let const var val def auto mut => Write \`name <- value\` without it.
  return yield => The word is \`RETURN\`, in capitals.
  for foreach unwind each => Write \`FOR x IN list { … }\`.
  if else when case while => A statement has no condition: filter with \`::WHERE(…)\`, loop with
      \`FOR x IN list { … }\`; a value by a condition is \`IF(condition, a, b)\`.
  with as => Bind a name with \`name <- value\`; rename a member with \`::{new: old}\`.
  order sort by => Write \`x::ORDER<Asc>(_::{property})\`.
  group => Write \`x::GROUP_BY(property)\`.
  limit skip offset top take => Write \`x::RANGE(0, n)\`: from the first, up to but without the
      n-th.
  distinct => Write \`x::DEDUP\`.
  join => Step along edges: \`x::Out<EdgeType>\`, \`x::In<EdgeType>\`.
  and => Write \`AND(a, b)\`.
  or => Write \`OR(a, b)\`.
  not => Write \`!\` in front of the condition.
  is is_null isnull => Write \`x::EQ(NONE)\`, or \`!\` in front of it.
  in => Write \`x::IS_IN(list)\`.
  like ilike contains => Write \`x::CONTAINS("text")\`.
  between => Write \`AND(x::GTE(low), x::LTE(high))\`.
  null nil undefined none => The value is \`NONE\`.
  true false => The values are \`true\` and \`false\`.
  now current_timestamp today => The instant of the request is \`NOW\`.
  count len length size => Write \`x::COUNT\`.
  this self it => The item at hand is \`_\`.
  async await => Leave it out: a query waits by itself.
  try catch throw => Leave it out: a query is done as a whole, or not at all.
  lambda => ${formHints.item}
  default => A default of a parameter is \`name: Type = value\`, of a property
      \`name: Type DEFAULT value\`.
`);

/** Names of steps in other languages; in lower case, without \`_\`. */
const steps = table(`
  distinct unique dedupe => Write \`DEDUP\`.
  filter having find => Write \`WHERE(…)\`.
  orderby order sort sortby => Write \`ORDER<Asc>(_::{property})\`.
  length size len total => Write \`COUNT\`.
  set modify patch => Write \`UPDATE({property: value})\`.
  like ilike matches includes => Write \`CONTAINS("text")\`.
  between => Write \`AND(x::GTE(low), x::LTE(high))\`.
  isnull isnone isempty => Write \`EQ(NONE)\`.
  equals eql is => Write \`EQ(value)\`.
  ne neq notequals => Write \`NEQ(value)\`.
  ge => Write \`GTE(value)\`.
  le => Write \`LTE(value)\`.
  in isin oneof => Write \`IS_IN(list)\`.
  map select values project return => Write \`::{property, name: value}\`.
  foreach each => Write \`FOR x IN list { … }\`.
  group groupby => Write \`GROUP_BY(property)\`.
  aggregate reduce => Write \`AGGREGATE_BY(property)\`.
  delete remove drop => Write \`DROP\` in front of the statement.
  both neighbors neighbours => Write \`Both<EdgeType>\`.
  outgoing traverse follow expand hop => Write \`Out<EdgeType>\`.
  incoming => Write \`In<EdgeType>\`.
  sum avg mean average min max => It is a function: \`SUM(x::{property})\`, \`AVG(…)\`,
      \`MIN(…)\`, \`MAX(…)\`.
  has => Write \`WHERE(_::{property}::EQ(value))\`.
  page paginate => Write \`RANGE(from, to)\`.
  after cursor keyset seek => Write \`PAGE(20, after)\`.
  union append => Write \`UNION(a, b)\` at the head of a chain.
  except minus without difference => Write \`EXCEPT(a, b)\` at the head of a chain.
  intersection => Write \`INTERSECT(a, b)\` at the head of a chain.
  repeat until emit => Bounds stand behind the step: \`Out<EdgeType>{1, 3}\`.
  lower upper lowercase uppercase tolower toupper tolowercase touppercase => It is a function:
      write it around the value.
  trim concat replace split substring if coalesce => It is a function: write it around the value.
  one single head => Write \`FIRST\`.
  save create insert => Write \`AddN<Type>({property: value})\`.
`);

const whole = 'Integers are `I8` to `I64` and `U8` to `U128`: write `I64`.';
const list = 'A list of texts is `[String]`, of numbers `[F64]`.';
const instant = 'Write `Date`: it is an instant with its time.';

/** Names of types; in lower case. */
const types = table(`
  int integer long bigint smallint int32 int64 bigserial serial => ${whole}
  uint uint32 uint64 unsigned usize size_t => Without a sign there are \`U8\` to \`U128\`: write
      \`U64\`.
  byte => Write \`U8\`.
  float double number decimal numeric real float32 float64 num => Write \`F64\`, or \`I64\` for
      integers.
  str text varchar char nvarchar => Write \`String\`.
  bool bit => Write \`Boolean\`.
  datetime timestamp timestamptz time instant => ${instant}
  uuid guid objectid => Write \`ID\`.
  vector embedding vec => Vectors have types of their own: \`V::Type { … }\`; as a parameter
      write \`[F64]\`.
  list array set collection tuple => ${list}
  json jsonb any => Write \`Json\`.
  object map dict record struct => A parameter may be \`{name: String, …}\`; a
      property is a scalar or a list.
  option optional maybe nullable => As a parameter write \`name?: Type\`; a property may always
      be unset.
  enum => Write \`String\`.
  null none void nil => Leave it out: every property may be unset.
  node edge vertex relationship => Write the name of a declared type, or \`ID\`.
`);

/** Words that begin an item; in lower case. */
const items = table(`
  node table type class struct interface model entity vertex record => Write \`N::Type {
      property: String }\`.
  edge relationship relation link rel => Write \`E::Type { From: A, To: B }\`.
  vector embedding => Write \`V::Type { property: String }\`.
  n => Write \`N::Type { property: String }\`.
  e => Write \`E::Type { From: A, To: B }\`.
  v => Write \`V::Type { property: String }\`.
  create => Types are declared: \`N::Type { property: String }\`; elements are created inside a
      query.
  function fn def func fun procedure mutation export select match insert update delete return
      let const call async => Queries are written \`QUERY name(parameter: Type) => … RETURN
      value\`.
  index constraint unique => An index stands in the type: \`N::Type { INDEX property: String }\`.
  import use include require package => Leave it out: all files of a project belong together.
  extends implements => Leave it out: a type stands alone.
  q => Queries are written \`QUERY name(parameter: Type) => … RETURN value\`.
  migrate => Write \`MIGRATION schema::1 => schema::2 { … }\`.
  version => Write \`schema::1 { … }\`.
`);

/** Symbols at any position. */
const signs = table(`
  == = === => Bind with \`<-\`; compare with \`::EQ(…)\`.
  != !== <> => Compare with \`::NEQ(…)\`.
  >= => Compare with \`::GTE(…)\`.
  <= => Compare with \`::LTE(…)\`.
  := => Bind with \`<-\`.
  && & => Write \`AND(a, b)\`.
  || => Write \`OR(a, b)\`.
  + += => Write \`ADD(a, b)\`, of texts \`CONCAT(a, b)\`.
  - -= => Write \`SUB(a, b)\`.
  * => Write \`MUL(a, b)\`; all members are \`..\`, all elements \`N<Type>\`; bounds of a walk stand
      behind the step, \`::Out<Edge>{1, 3}\`.
  / => Write \`DIV(a, b)\`.
  % => Write \`MOD(a, b)\`.
  ^ => Write \`POW(a, b)\`.
  ; => Remove it: nothing separates statements; items of a list are separated by \`,\`.
  $ => Parameters are plain names.
  @ => A macro is written \`#[mcp]\`.
  -> --> -[ <-[ => Steps are written \`::Out<EdgeType>\`; a query begins \`QUERY name() =>\`.
  ... => Write \`..\`.
  ' \` \u201c \u2018 \u00ab => Texts stand in double quotes: \`"text"\`.
  ?? => Write \`COALESCE(a, b)\`.
  ? => A parameter that may be absent is written \`name?: Type\`; a value by a condition is
      \`IF(condition, a, b)\`.
`);

const lookUp = (from: ReadonlyMap<string, string>, word: string): string | undefined =>
  from.get(word.toLowerCase());

/** Words of this language that mean the same in the others. */
const own = new Set(['RETURN', 'DROP', 'FOR', 'NONE', 'NOW', 'true', 'false']);

export const foreignWord = (word: string): string | undefined =>
  own.has(word) ? undefined : lookUp(words, word);
export const foreignType = (word: string): string | undefined => lookUp(types, word);
export const foreignItem = (word: string): string | undefined => lookUp(items, word);
export const foreignSign = (sign: string): string | undefined => signs.get(sign);

export const foreignStep = (word: string): string | undefined =>
  lookUp(steps, word.replaceAll('_', ''));

interface Written {
  kind: string;
  text: string;
}

/** Returns true for words that a value follows. */
export const takesValue = ({ kind, text }: Written): boolean =>
  kind === 'name' && /^(RETURN|DROP|IN)$/.test(text);

/** Number of tokens before a symbol that are inspected. */
const tokensBefore = 256;

/** Returns the index of the last open bracket in these tokens; -1 if none is near. */
function innermost(tokens: readonly Written[]): number {
  let closed = 0;
  for (let at = tokens.length - 1; at >= Math.max(0, tokens.length - tokensBefore); at--) {
    const { kind, text } = tokens[at]!;
    if (kind !== 'symbol') continue;
    if (/^[)\]}]$/.test(text)) closed++;
    else if (/^[([{]$/.test(text) && closed-- === 0) return at;
  }
  return -1;
}

/** Calls that take conditions; other calls take arguments. */
const ofConditions = /^(WHERE|PREFILTER|AND|OR|IF|EXISTS)$/;

/**
 * Returns the hint for a foreign symbol that the lexer found after these tokens. `isJoined`: it is between
 * letters.
 */
export function dialectHint(
  sign: string,
  before: readonly Written[],
  isJoined: boolean,
): string | undefined {
  const last = before.at(-1);
  const isValue = last?.kind !== 'symbol' || /^[)\]}]$/.test(last.text);
  const isAfterValue = last !== undefined && isValue && !takesValue(last);
  if (sign === '=') return assignHint(before) ?? signs.get(sign);
  if (sign === '-' && isJoined)
    return 'Names are letters, digits and `_`; a difference is `SUB(a, b)`.';
  if (sign === '-' && !isAfterValue) return 'Write `SUB(0, a)`.';
  const isOfVersions = last?.kind === 'integer' && before.at(-2)?.text === '::';
  return sign === '->' && isOfVersions ? formHints.migration : signs.get(sign);
}

/** Returns the hint for `=`, depending on the tokens before it. */
function assignHint(before: readonly Written[]): string | undefined {
  const [owner, last] = [before.at(-2)?.text, before.at(-1)?.text];
  const at = innermost(before);
  const opener = before[at]?.text;
  const [outer, named] = [before[at - 2]?.text, before[at - 1]];
  if (opener === '{' && outer === '::') {
    const hasType = owner === ':' || last === ']';
    return hasType ? 'A default is `DEFAULT value`.' : 'A property is written `name: Type`.';
  }
  if (opener === '{' && (named?.kind === 'symbol' || named?.text === 'RETURN'))
    return 'A member is written `name: value`.';
  const isArgument = owner === '(' || owner === ',';
  const isPlainCall =
    named?.text === '>' || (named?.kind === 'name' && !ofConditions.test(named.text));
  if (opener === '(' && isArgument && isPlainCall)
    return 'An argument is written `name: value`, or without its name.';
  if (opener !== undefined && opener !== '{') return undefined;
  if (last === ')' && before.slice(-tokensBefore).some(({ text }) => text === 'QUERY'))
    return formHints.query;
  if (owner === '::' && /^[NEV]$/.test(before.at(-3)?.text ?? ''))
    return 'Write `N::Type { property: String }`.';
  const isMember = owner === '.' || owner === '::' || last === '}';
  return isMember ? formHints.change : undefined;
}
