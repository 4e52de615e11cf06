// Reads the prompts of a project, `prompts/*.md`. A file has a header between lines of three dashes (`name`,
// `description`, and under `arguments` a line for each argument, an optional one with `?`) and the text after
// it.
//
// Invariants: a file that cannot be read is skipped, the others are not. Nothing outside the real folder of
// the project is read.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { leadsOut, realFile } from '../../folder/project-file.js';
import type { Prompt, PromptArgument } from './prompt.js';

const filesMax = 200;
const fileBytesMax = 256 * 1024;
const nameForm = /^[A-Za-z0-9_.-]{1,64}$/;

export interface FoundPrompts {
  prompts: Prompt[];
  /** Skipped files, with the reason. */
  errors: string[];
}

export function readPrompts(projectDir: string): FoundPrompts {
  const folder = join(projectDir, 'prompts');
  const prompts = new Map<string, Prompt>();
  const errors: string[] = [];
  for (const file of filesIn(folder)) {
    const prompt = readOne(projectDir, join(folder, file), file.slice(0, -3));
    if (typeof prompt === 'string') errors.push(`prompts/${file}: ${prompt}`);
    else if (prompts.has(prompt.name)) {
      errors.push(`prompts/${file}: another file has the name ${prompt.name}`);
    } else prompts.set(prompt.name, prompt);
  }
  return { prompts: [...prompts.values()], errors };
}

function filesIn(folder: string): string[] {
  try {
    const files = readdirSync(folder).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    );
    return files.sort().slice(0, filesMax);
  } catch {
    // Most projects have no prompts.
    return [];
  }
}

function readOne(projectDir: string, named: string, defaultName: string): Prompt | string {
  try {
    const path = realFile(projectDir, named);
    if (path === 'outside') return `it ${leadsOut}`;
    if (path === undefined) return 'it cannot be read (ENOENT)';
    const status = statSync(path);
    if (!status.isFile() || status.size > fileBytesMax) {
      return `it is no file of at most ${fileBytesMax} bytes`;
    }
    return promptOf(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'), defaultName);
  } catch (error) {
    return `it cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** Returns the error of a prompt file, or undefined. */
export function promptOf(source: string, defaultName: string): Prompt | string {
  const match = /^\uFEFF?---\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(source);
  const head = headOf(match?.[1] ?? '');
  if (typeof head === 'string') return head;
  const name = head.members.get('name') ?? defaultName;
  if (!nameForm.test(name)) return `the name has to be like ${nameForm.source}`;
  const description = head.members.get('description');
  return {
    name,
    ...(description !== undefined && { description }),
    arguments: head.listed,
    text: source.slice(match?.[0].length ?? 0).trim(),
  };
}

interface Head {
  members: Map<string, string>;
  listed: PromptArgument[];
}

function headOf(text: string): Head | string {
  const members = new Map<string, string>();
  const listed: PromptArgument[] = [];
  let isList = false;
  for (const line of text.split('\n')) {
    const entry = /^[ \t]+(?:- )?([\w-]+)(\?)?[ \t]*(?::[ \t]*(.*))?$/.exec(line);
    const member = /^(name|description|arguments):[ \t]*(.*)$/.exec(line);
    if (isList && entry !== null) listed.push(argumentOf(entry));
    else if (member !== null) {
      isList = member[1] === 'arguments' && member[2] === '';
      if (!isList) members.set(member[1]!, unquoted(member[2]!));
    } else if (line.trim() !== '') return `its head has the line ${JSON.stringify(line)}`;
  }
  return members.has('arguments') ? 'each argument takes a line of its own' : { members, listed };
}

function argumentOf([, name, optional, about]: RegExpExecArray): PromptArgument {
  return {
    name: name!,
    ...(about && { description: unquoted(about) }),
    required: optional === undefined,
  };
}

const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text.trim())?.[2] ?? text.trim();
