// Reads arguments of calls as written: their number, object literals, type arguments.
import type { ElementKind } from '../../base/schema.js';
import type { Call, Expr, ObjectLiteral } from '../syntax/ast-expression.js';
import type { Name } from '../syntax/ast-literal.js';
import type { Context } from '../type/context.js';
import { didYouMean } from '../../base/did-you-mean.js';

/**
 * Returns exactly `count` arguments without names; undefined after a report. `form` shows the call in
 * messages.
 */
export function expectArguments(
  context: Context,
  call: Call,
  count: number,
  form: string,
): Expr[] | undefined {
  const args = call.args ?? [];
  // An unreadable argument has been reported.
  if (args.some(({ value }) => value.kind === 'faulty') && args.length !== count) return undefined;
  if (args.length === count && args.every((arg) => arg.name === undefined)) {
    return args.map((arg) => arg.value);
  }
  const named = args.find((arg) => arg.name !== undefined)?.name?.text;
  const has =
    named === undefined
      ? printCount(args.length, 'no arguments')
      : `an argument named \`${named}\``;
  const takes = printCount(count, 'none') + (named === undefined ? '' : ' without a name');
  const message = `\`${call.name.text}\` has ${has}; it takes ${takes}.`;
  context.report('E305', call.span, message, `Write \`${form}\`.`);
  return undefined;
}

/** Returns a number of arguments in words. */
export function printCount(count: number, none: string): string {
  return count === 1 ? 'one argument' : count === 0 ? none : `${count} arguments`;
}

/** Returns the only argument; undefined after a report. */
export function argument(context: Context, call: Call, form: string): Expr | undefined {
  return expectArguments(context, call, 1, form)?.[0];
}

/** Returns the only argument as an object literal, or `{}` if it is absent and optional. */
export function objectArgument(
  context: Context,
  call: Call,
  form: string,
  optional = false,
): ObjectLiteral | undefined {
  const isAbsent = optional && (call.args ?? []).length === 0;
  if (isAbsent) return { kind: 'object', members: [], span: call.span };
  const value = argument(context, call, form);
  return value === undefined ? undefined : asObject(context, value, form);
}

export function asObject(context: Context, value: Expr, form: string): ObjectLiteral | undefined {
  if (value.kind === 'object') return value;
  if (value.kind !== 'faulty') {
    context.report('E206', value.span, 'An object is needed here.', `Write \`${form}\`.`);
  }
  return undefined;
}

const unknownCode = { node: 'E101', edge: 'E102', vector: 'E103' } as const;
const kindWord = { node: 'a node type', edge: 'an edge type', vector: 'a vector type' } as const;

/** Returns true if a type of this kind is declared; otherwise reports it. */
export function isDeclared(context: Context, kind: ElementKind, name: Name): boolean {
  if (context.schema.find(kind, name.text) !== undefined) return true;
  const message = `\`${name.text}\` is not ${kindWord[kind]}.`;
  const hint =
    kindHint(context, name.text) ??
    didYouMean(name.text, context.schema.names(kind), 'Declare it.');
  context.report(unknownCode[kind], name.span, message, hint);
  return false;
}

/** Returns a hint if the type is declared as another kind. */
function kindHint({ schema }: Context, name: string): string | undefined {
  for (const [kind, letter] of [
    ['node', 'N'],
    ['edge', 'E'],
    ['vector', 'V'],
  ] as const)
    if (schema.find(kind, name)) return `It is ${kindWord[kind]}: \`${letter}<${name}>\`.`;
  return undefined;
}

/** Returns the only type argument, which must be declared; undefined after a report. */
export function typeArgument(context: Context, call: Call, kind: ElementKind): Name | undefined {
  const [name, extra] = call.types ?? [];
  if (name === undefined || extra !== undefined) {
    const message = `\`${call.name.text}\` takes one type argument.`;
    const code = name === undefined ? 'E304' : 'E305';
    const value = call.args?.[0]?.value;
    const first =
      value?.kind === 'chain' && value.head.kind === 'path' ? value.head.names[0] : undefined;
    const meant = first && context.schema.find(kind, first.text) ? first.text : '…';
    context.report(code, call.name.span, message, `Write \`${call.name.text}<${meant}>\`.`);
    return undefined;
  }
  return isDeclared(context, kind, name) ? name : undefined;
}
