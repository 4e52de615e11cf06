// Checks the parameters of a query: written types become parameter types, declared types become objects.
import type { ObjectMember, ParameterType } from '../../base/schema.js';
import type { Expression } from '../../plan/expression.js';
import type { Parameter } from '../../plan/plan.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Field, TypeNode } from '../syntax/ast-schema.js';
import { foreignType } from '../syntax/dialect-hints.js';
import type { Context } from '../type/context.js';
import { unknownExpr, valueExpr } from '../type/make-typed.js';
import { checkDefault } from './parameter-default.js';
import { isReservedScalar, isScalarName, scalarNames, findScalar } from './schema-checker.js';
import { findName, type Scope } from '../type/scope.js';
import { didYouMean } from '../../base/did-you-mean.js';
import { typeOfParameter } from '../type/parameter-type.js';
import { unknownType } from '../type/type.js';

/** Declares the parameters in the outermost scope. */
export function declareParameters(context: Context, fields: readonly Field[], scope: Scope): void {
  for (const field of fields) {
    const { name, optional } = field;
    const type = parameterType(context, field.type);
    if (!checkName(context, name, scope)) continue;
    const index = context.parameters.length;
    const known: ParameterType = type ?? { kind: 'scalar', name: 'String' };
    const parameter: Parameter = { name: name.text, type: known, optional, vector: false };
    context.parameters.push(parameter);
    const defaultValue = type && checkDefault(field, type, context.report);
    if (defaultValue !== undefined) parameter.default = defaultValue;
    const held = type === undefined ? unknownType : typeOfParameter(type);
    const value: Expression = { kind: 'parameter', index };
    // The instant of the request is known only at run time, after the texts to embed are collected.
    const isNow = defaultValue?.kind === 'now';
    const expression: Expression = isNow
      ? { kind: 'coalesce', of: [value, { kind: 'now' }] }
      : value;
    const typed = valueExpr(held, expression);
    scope.names.set(name.text, { ...typed, known: !isNow, parameter: index });
  }
}

/** Returns true if a name may be bound here; reports E105 for reserved words and E302 for names in scope. */
export function checkName(context: Context, name: Name, scope: Scope): boolean {
  if (refuseWord(context, name)) {
    // Uses of the name are not reported again.
    scope.names.set(name.text, unknownExpr());
    return false;
  }
  if (findName(scope, name.text) === undefined) return true;
  const message = `\`${name.text}\` is bound already.`;
  context.report('E302', name.span, message, 'Rename one of the two.');
  return false;
}

/** Reports a reserved word; returns true after a report. */
export function refuseWord(context: Context, { text, span }: Name): boolean {
  if (!isWord(text)) return false;
  context.report('E105', span, `\`${text}\` cannot be the name of a value.`, 'Rename it.');
  return true;
}

/** Returns true for literals and scalar types. */
export function isWord(text: string): boolean {
  return text === 'true' || text === 'false' || text === 'NONE' || isReservedScalar(text);
}

/** Returns the type for decoding; undefined after a report. */
function parameterType(context: Context, node: TypeNode): ParameterType | undefined {
  switch (node.kind) {
    case 'list': {
      const of = parameterType(context, node.of);
      return of && { kind: 'list', of };
    }
    case 'object':
      return objectType(context, node.fields);
    case 'name':
      return namedType(context, node.name);
  }
}

function objectType(context: Context, fields: readonly Field[]): ParameterType {
  const members: ObjectMember[] = [];
  const seen = new Set<string>();
  for (const field of fields) {
    const { text, span } = field.name;
    if (seen.has(text)) {
      context.report('E702', span, `Member \`${text}\` stands here twice.`, 'Rename one.');
      continue;
    }
    seen.add(text);
    if (field.index !== 'none' || field.search !== undefined || field.default !== undefined) {
      const message = '`INDEX`, `UNIQUE`, `SEARCH` and `DEFAULT` mean nothing in a parameter.';
      context.report('W111', span, message, 'Remove them.');
    }
    const type = parameterType(context, field.type);
    if (type !== undefined) members.push(buildMember(context, field, type));
  }
  return { kind: 'object', members };
}

function buildMember(context: Context, field: Field, type: ParameterType): ObjectMember {
  const { name, optional } = field;
  const defaultValue = checkDefault(field, type, context.report);
  if (defaultValue?.kind !== 'now') {
    return { name: name.text, type, optional, ...(defaultValue && { default: defaultValue }) };
  }
  const hint = 'Write `COALESCE(x, NOW)` where it is read.';
  context.report('E712', name.span, 'A member is not `NOW` by default.', hint);
  return { name: name.text, type, optional: true };
}

const isDeclaredJson = ({ schema }: Context): boolean =>
  (['node', 'edge', 'vector'] as const).some((kind) => schema.find(kind, 'Json') !== undefined);

/** Returns a scalar, or for a declared type an object of its properties, all optional. */
function namedType(context: Context, name: Name): ParameterType | undefined {
  const isHidden = name.text === 'Json' && isDeclaredJson(context);
  if (isHidden) {
    const message = '`Json` is the declared type here, not the type of any JSON value.';
    context.report('W117', name.span, message, 'Rename the declared type.');
  } else if (isScalarName(name.text))
    return { kind: 'scalar', name: findScalar(name, context.report)! };
  for (const kind of ['node', 'edge', 'vector'] as const) {
    const type = context.schema.find(kind, name.text);
    if (type === undefined) continue;
    const members = type.properties.map((p) => ({ name: p.name, type: p.type, optional: true }));
    return { kind: 'object', members };
  }
  const scalar = findScalar(name, context.report);
  if (scalar !== undefined) return { kind: 'scalar', name: scalar };
  const { schema } = context;
  const types = [...schema.names('node'), ...schema.names('edge'), ...schema.names('vector')];
  const hint = foreignType(name.text) ?? didYouMean(name.text, [...scalarNames(), ...types]);
  context.report('E209', name.span, `There is no type \`${name.text}\`.`, hint);
  return undefined;
}
