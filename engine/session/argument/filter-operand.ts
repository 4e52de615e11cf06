// Converts filter values to the declared types of their key before comparing.
import { toInstant, parseDate } from '../../base/date.js';
import { fail } from '../../base/errors.js';
import { toFloat32 } from '../../base/float.js';
import { parseUuid } from '../../base/id.js';
import { compactJson, Json, scalarOfJson } from '../../base/text/json.js';
import type { PropertyType, ScalarName } from '../../base/schema.js';
import { type Scalar, Uuid } from '../../base/value.js';
import { describe, quote } from '../../json/validation-error.js';
import type { JsonView } from '../../json/view.js';
import type { SessionOperand, SessionTest } from '../../plan/expression.js';
import { integerOperand, isDecimal } from './decimal.js';
import type { Meaning } from './vocabulary.js';

const incomparable: SessionOperand = { kind: 'incomparable' };

/** Returns the operand for comparing with values of the type; undefined if the value cannot be converted. */
function toOperand(view: JsonView, type: ScalarName): SessionOperand | undefined {
  switch (type) {
    case 'String':
      return view.kind === 'string' ? { kind: 'value', value: view.text() } : undefined;
    case 'Boolean':
      return valueOperand(toBoolean(view));
    case 'Json':
      return { kind: 'value', value: scalarOfJson(new Json(compactJson(view.source()))) };
    case 'Date':
      return valueOperand(toDate(view));
    case 'ID':
      return valueOperand(toUuid(view));
    case 'F32':
    case 'F64':
      return valueOperand(toFloat(view, type));
    default: {
      const text = toDecimal(view);
      return text === undefined ? undefined : integerOperand(text);
    }
  }
}

const valueOperand = (value: Scalar | undefined): SessionOperand | undefined =>
  value === undefined ? undefined : { kind: 'value', value };

function toDecimal(view: JsonView): string | undefined {
  if (view.kind === 'number') return view.token();
  return view.kind === 'string' ? view.text() : undefined;
}

function toBoolean(view: JsonView): boolean | undefined {
  if (view.kind === 'boolean') return view.boolean();
  if (view.kind !== 'string') return undefined;
  const text = view.text().toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function toDate(view: JsonView): Scalar | undefined {
  if (view.kind === 'string') return parseDate(view.text());
  return view.kind === 'number' && view.integral ? toInstant(view.float()) : undefined;
}

function toUuid(view: JsonView): Uuid | undefined {
  if (view.kind !== 'string') return undefined;
  const text = view.text();
  return parseUuid(text) === undefined ? undefined : new Uuid(text.toLowerCase());
}

/** A number beyond the range of the type keeps its magnitude: every stored value is on one side of it. */
function toFloat(view: JsonView, type: 'F32' | 'F64'): number | undefined {
  const text = toDecimal(view);
  if (text === undefined || !isDecimal(text)) return undefined;
  const value = Number(text);
  const narrow = type === 'F32' ? toFloat32(value) : value;
  return Number.isFinite(narrow) ? narrow : value;
}

/** Lists are compared by element, so the operand has the innermost element type. */
function innermost(type: PropertyType): ScalarName {
  return type.kind === 'scalar' ? type.name : innermost(type.of);
}

/**
 * Returns the operands of `values` for every type that declares the key. A value that converts for only some
 * of these types is not comparable with the others; one that converts for none fails PARAM_TYPE. Null is not
 * comparable.
 */
export function buildCases(
  meaning: Meaning,
  values: readonly JsonView[],
): Pick<SessionTest, 'cases' | 'attribute'> {
  const byScalar = new Map<ScalarName, (SessionOperand | undefined)[]>();
  const columnOf = (name: ScalarName) => {
    let column = byScalar.get(name);
    if (column === undefined) {
      column = values.map((view) => (view.kind === 'null' ? incomparable : toOperand(view, name)));
      byScalar.set(name, column);
    }
    return column;
  };
  const names = meaning.declared.map(({ of }) => innermost(of));
  if (meaning.anywhere !== undefined) names.push(meaning.anywhere);
  for (const name of names) columnOf(name);
  values.forEach((view, i) => {
    if (![...byScalar.values()].some((column) => column[i] !== undefined))
      misfit(view, [...byScalar.keys()]);
  });
  const filled = new Map<ScalarName, SessionOperand[]>();
  for (const [name, column] of byScalar)
    filled.set(
      name,
      column.map((operand) => operand ?? incomparable),
    );
  const cases = meaning.declared.map(({ type, of }) => ({
    type,
    values: filled.get(innermost(of))!,
  }));
  const { anywhere } = meaning;
  return anywhere === undefined ? { cases } : { cases, attribute: filled.get(anywhere)! };
}

function misfit(view: JsonView, types: readonly ScalarName[]): never {
  const isPlain = view.kind === 'string' || view.kind === 'number';
  const got = isPlain ? quote(view) : describe(view);
  fail(
    'PARAM_TYPE',
    { param: 'value', type: types.join(' or ') || 'unset', got },
    { path: view.path },
  );
}
