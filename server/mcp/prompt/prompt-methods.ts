// The methods of prompts, and the completion of arguments of prompts and of resource templates. Invariant: a
// completion contains only names that the caller may see.
import type { JsonView } from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import { type Answer, type MethodCall, membersOf, type Methods } from '../message/method.js';
import { RpcError, rpcCodes } from '../message/rpc-reply.js';
import { textParameter } from '../message/json-rpc.js';
import { type GetDatabase, queryTemplate } from '../resource/resource-methods.js';
import { schemaPage } from '../resource/schema-page.js';
import { type Visibility, visibleTo } from '../resource/visibility.js';
import { builtInPrompts, filled, type Prompt, wordsFor } from './prompt.js';

export interface PromptMethodOptions {
  database: GetDatabase;
  /** Prompts of the project. */
  prompts: () => readonly Prompt[];
  /** Beginning of the names of all tools. */
  prefix: string;
}

const completionsMax = 100;

export function promptMethods(options: PromptMethodOptions): Methods {
  return [
    ['prompts/list', { answer: () => list(allOf(options)) }],
    ['prompts/get', { answer: (call) => get(call, options) }],
    ['completion/complete', { answer: (call) => complete(call, options) }],
  ];
}

/** Returns all prompts. A prompt of the project replaces the built-in prompt of the same name. */
export function allOf({
  prompts,
  prefix,
}: Pick<PromptMethodOptions, 'prompts' | 'prefix'>): Prompt[] {
  const own = prompts();
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...builtInPrompts(prefix).filter(({ name }) => !names.has(name))];
}

function list(prompts: readonly Prompt[]): Answer {
  const entries = prompts.map(({ text: _, ...entry }) => entry);
  return { members: membersOf({ prompts: entries }), keep: 'lists' };
}

function failParams(what: string): never {
  throw new RpcError(rpcCodes.params, `Invalid params: ${what}`);
}

function promptNamed(name: string, options: PromptMethodOptions): Prompt {
  return allOf(options).find((prompt) => prompt.name === name) ?? failParams('Unknown prompt');
}

function get({ frame, key }: MethodCall, options: PromptMethodOptions): Answer {
  const prompt = promptNamed(textParameter(frame, 'name'), options);
  const input = frame.params!.member('arguments');
  const values = new Map<string, string>();
  for (const { name, required } of prompt.arguments) {
    const value = input?.kind === 'object' ? input.member(name) : undefined;
    if (value?.kind === 'string') values.set(name, value.text());
    else if (value !== undefined && value.kind !== 'null') failParams(`${name} is no string`);
    else if (required) failParams(`${name} is missing`);
    else values.set(name, '');
  }
  if (prompt.text.includes('{{schema}}')) values.set('schema', pageFor(key, options));
  const content = { type: 'text', text: filled(prompt, values) };
  const { description } = prompt;
  const messages = [{ role: 'user', content }];
  return { members: membersOf({ ...(description !== undefined && { description }), messages }) };
}

function pageFor(key: Caller | undefined, { database }: PromptMethodOptions): string {
  const open = database();
  return open.view((view) => schemaPage(visibleTo(open.program, key), view));
}

function complete({ frame, key }: MethodCall, options: PromptMethodOptions): Answer {
  const reference = memberOf(frame.params, 'ref');
  const argument = memberOf(frame.params, 'argument');
  const name = textOf(memberOf(argument, 'name'), 'argument.name');
  const value = textOf(memberOf(argument, 'value'), 'argument.value').toLowerCase();
  const seen = visibleTo(options.database().program, key);
  const fitting = candidates(reference, name, seen, options).filter((word) =>
    word.toLowerCase().includes(value),
  );
  // Values that begin with the typed text come first.
  const starts = (word: string): number => (word.toLowerCase().startsWith(value) ? 0 : 1);
  const ranked = fitting.sort((a, b) => starts(a) - starts(b));
  const values = ranked.slice(0, completionsMax);
  const completion = { values, total: ranked.length, hasMore: ranked.length > values.length };
  return { members: membersOf({ completion }) };
}

function candidates(
  reference: JsonView | undefined,
  argument: string,
  seen: Visibility,
  options: PromptMethodOptions,
): string[] {
  const kind = textOf(memberOf(reference, 'type'), 'ref.type');
  if (kind === 'ref/resource') {
    const uri = textOf(memberOf(reference, 'uri'), 'ref.uri');
    return uri === queryTemplate && argument === 'name' ? seen.queries.map(({ name }) => name) : [];
  }
  if (kind !== 'ref/prompt') return failParams('ref.type is neither ref/prompt nor ref/resource');
  const prompt = promptNamed(textOf(memberOf(reference, 'name'), 'ref.name'), options);
  const isKnown = prompt.arguments.some(({ name }) => name === argument);
  return isKnown ? wordsFor(argument, seen) : failParams(`there is no argument ${argument}`);
}

function memberOf(view: JsonView | undefined, name: string): JsonView | undefined {
  return view?.kind === 'object' ? view.member(name) : undefined;
}

function textOf(view: JsonView | undefined, name: string): string {
  return view?.kind === 'string' ? view.text() : failParams(`${name} is no string`);
}
