// Completes the last word of a command line: commands, their words and flags, and the names of a project.
import type { Program } from '../../engine/internal.js';
import type { Command } from './command.js';

/** Possible values of flags and words. */
const choices: Record<string, readonly string[]> = {
  '--template': ['start', 'graphrag', 'memory'],
  '--role': ['read', 'write', 'admin', 'metrics'],
  '--int64': ['number', 'bigint', 'string'],
  '--dates': ['string', 'date'],
  config: ['print'],
  completion: ['bash', 'zsh', 'fish', 'powershell'],
};

/**
 * Returns the completions of the last word. `words` are the words after `trellis`; the last one can be
 * incomplete. `program` is that of the project, if it compiles. Returns nothing where a file is expected.
 */
export function completeWords(
  words: readonly string[],
  commands: readonly Command[],
  program: () => Program | undefined,
): string[] {
  const typed = words.at(-1) ?? '';
  const offer = (names: readonly string[]): string[] =>
    names.filter((name) => name.startsWith(typed));
  const names = commands.map(({ name }) => name);
  if (words.length < 2) return offer([...names, '--help', '--version']);
  const command = commands.find(({ name }) => name === words[0]);
  if (command === undefined) return [];
  const before = words.at(-2)!;
  if (before.startsWith('--') && takesValue(command, before)) {
    const isType = /^--(node|edge|vector)$/.test(before);
    return offer(isType ? typesOf(program(), before.slice(2)) : (choices[before] ?? []));
  }
  if (typed.startsWith('-')) {
    return offer([...Object.keys(command.flags).map((flag) => `--${flag}`), '--help']);
  }
  return offer(wordsOf(command, words.slice(1, -1), names, program));
}

function takesValue({ flags }: Command, flag: string): boolean {
  const name = flag.slice(2);
  return Object.hasOwn(flags, name) && flags[name]!.value !== undefined;
}

function wordsOf(
  command: Command,
  typed: readonly string[],
  commands: readonly string[],
  program: () => Program | undefined,
): readonly string[] {
  const { name, words = '' } = command;
  if (name === 'help') return commands;
  if (Object.hasOwn(choices, name)) return choices[name]!;
  if (words.includes(' | ')) return typed.length > 0 ? [] : words.split(' | ').map(firstWord);
  if (name === 'recall' || name === 'reembed') return typesOf(program(), 'vector');
  if (!words.includes('QUERY')) return [];
  const queries = program()?.queries ?? [];
  const query = queries.find((each) => typed.includes(each.name));
  if (query === undefined) return queries.map((each) => each.name);
  return name === 'query' ? query.plan.parameters.map((parameter) => `${parameter.name}=`) : [];
}

const firstWord = (text: string): string => text.trim().split(' ')[0]!;

function typesOf(program: Program | undefined, kind: string): string[] {
  if (program === undefined) return [];
  const { nodes, edges, vectors } = program.schema;
  const types = { node: nodes, edge: edges, vector: vectors }[kind] ?? [];
  return types.map(({ name }) => name);
}
