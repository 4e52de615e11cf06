// Reads named arguments of calls, and the arguments of a search: its query, its count, and its options.
import type { Argument, Call, Expr } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { expectArguments } from './call-argument.js';

/** Returns the named arguments among some of the arguments; `form` shows the whole call in messages. */
export function namedArguments(
  context: Context,
  args: readonly Argument[],
  known: readonly string[],
  form: string,
): Map<string, Argument> {
  const found = new Map<string, Argument>();
  for (const arg of args) {
    const name = arg.name?.text ?? '';
    if (known.includes(name) && !found.has(name)) {
      found.set(name, arg);
    } else {
      const hint = `Write \`${form}\`.`;
      context.report('E206', arg.name?.span ?? arg.value.span, 'This argument is unknown.', hint);
    }
  }
  return found;
}

export interface SearchArguments {
  /** What is searched for, and the number of hits; undefined after a report. */
  positional: readonly [query: Expr, count: Expr] | undefined;
  named: ReadonlyMap<string, Argument>;
}

/**
 * Reads the arguments of a search: two without names, then any of the `known` names, each once. `form` shows
 * the two in messages.
 */
export function searchArguments(
  context: Context,
  call: Call,
  known: readonly string[],
  form: string,
): SearchArguments {
  const args = call.args ?? [];
  const names = args.slice(2);
  const hasTwo = args.length >= 2 && args.slice(0, 2).every((arg) => arg.name === undefined);
  if (!hasTwo || names.some((arg) => arg.name === undefined)) {
    const two = expectArguments(context, call, 2, form);
    return { positional: two && [two[0]!, two[1]!], named: new Map() };
  }
  return {
    positional: [args[0]!.value, args[1]!.value],
    named: namedArguments(
      context,
      names,
      known,
      `${form.slice(0, -1)}, ${known.map((name) => `${name}: …`).join(', ')})`,
    ),
  };
}
