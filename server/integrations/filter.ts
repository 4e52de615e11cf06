// Converts filters of LangChain's vector stores to conditions of HelixQL: equality,
// `$eq $ne $in $nin $gt $gte $lt $lte`, `$and $or $not`, on declared properties, or on any member of metadata of
// the type `Json`. Values become parameters; any other form is refused.

export type PropertyType = 'String' | 'Boolean' | 'I32' | 'I64' | 'U32' | 'F64' | 'Date' | 'ID';
export type Value = string | number | boolean | bigint;
type Comparison = { [operator: string]: Value | Value[] };
export type Filter = { [name: string]: Value | Comparison | Filter | Filter[] };

export interface Condition {
  text: string;
  /** Declarations of the parameters for its values, each after a comma. */
  declared: string;
  values: Record<string, Value>;
}

const comparisons: Record<string, string> = {
  $eq: 'EQ',
  $ne: 'NEQ',
  $gt: 'GT',
  $gte: 'GTE',
  $lt: 'LT',
  $lte: 'LTE',
  $in: 'IS_IN',
  $nin: 'IS_IN',
};

export function conditionOf(
  filter: Filter,
  properties: ReadonlyMap<string, PropertyType>,
  /** The property of the type `Json` that has all other members of metadata, if there is one. */
  metadata?: string,
): Condition {
  const values: Record<string, Value | Value[]> = {};
  const declared: string[] = [];
  const bind = (value: Value | Value[], type: string): string => {
    const name = `v${declared.length}`;
    declared.push(`, ${name}: ${Array.isArray(value) ? `[${type}]` : type}`);
    values[name] = value;
    return name;
  };
  const compare = (name: string, operator: string, value: unknown): string => {
    const type = properties.get(name) ?? (metadata === undefined ? undefined : 'Json');
    const step = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined;
    if (type === undefined) return refuse(`${name} is not in \`properties\` of the store`);
    if (step === undefined) return refuse(`${operator} is no operator`);
    const isList = step === 'IS_IN';
    if (isList !== Array.isArray(value))
      return refuse(`${operator} takes ${isList ? 'a list' : 'a value'}`);
    if (![value].flat().every(isValue)) return refuse(`${name} is compared with what is no value`);
    const member = properties.has(name) ? `_::{${name}}` : `_::{${metadata}}::GET(${pathOf(name)})`;
    const text = `${member}::${step}(${bind(value as Value, type)})`;
    return operator === '$nin' ? `!${text}` : text;
  };
  const group = (word: string, filters: unknown): string => {
    if (!Array.isArray(filters) || filters.length === 0) return refuse(`${word} takes filters`);
    return junction(
      word,
      filters.map((each) => all(each as Filter)),
    );
  };
  const member = (name: string, value: unknown): string => {
    if (name === '$and') return group('AND', value);
    if (name === '$or') return group('OR', value);
    if (name === '$not') return `!${all(value as Filter)}`;
    if (isValue(value)) return compare(name, '$eq', value);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(`${name} is compared with what is no value`);
    const { $not: inner, ...rest } = value as Comparison & { $not?: unknown };
    const parts = Object.entries(rest).map(([operator, of]) => compare(name, operator, of));
    if (inner !== undefined) parts.push(`!${member(name, inner)}`);
    return parts.length === 0 ? refuse(`${name} is compared with nothing`) : junction('AND', parts);
  };
  const all = (of: Filter): string => {
    const isFilter = typeof of === 'object' && of !== null && !Array.isArray(of);
    const members = isFilter ? Object.entries(of) : refuse('a filter is an object');
    if (members.length === 0) return refuse('a filter names something');
    return junction(
      'AND',
      members.map(([name, value]) => member(name, value)),
    );
  };
  const text = all(filter);
  return { text, declared: declared.join(''), values: values as Record<string, Value> };
}

/** Returns a name, or several separated by dots, as the literal of a path. */
function pathOf(name: string): string {
  if (!/^[^"\\\p{Cc}.]+(\.[^"\\\p{Cc}.]+)*$/u.test(name))
    refuse(`${JSON.stringify(name)} is no path`);
  return `"${name}"`;
}

const junction = (word: string, parts: string[]): string =>
  parts.length === 1 ? parts[0]! : `${word}(${parts.join(', ')})`;

const isValue = (value: unknown): value is Value =>
  /^(string|number|boolean|bigint)$/.test(typeof value);

function refuse(why: string): never {
  throw new TypeError(`This filter cannot be asked: ${why}.`);
}
