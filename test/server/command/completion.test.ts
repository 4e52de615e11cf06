// Completion of what is typed at a shell: what is offered, and the scripts in real shells, where they are.
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runCommand } from '../../../server/command/cli.js';
import { makeFolder, removeFolder, root } from '../../support/project.js';

let folder: string;
beforeAll(() => {
  folder = makeFolder();
  const source = `N::Person { name: String }
V::Note { text: String }
QUERY personOf(name: String, most: U8) =>
  RETURN N<Person>::WHERE(_::{name}::EQ(name))::RANGE(0, most)
QUERY people() => RETURN N<Person>
`;
  writeFileSync(join(folder, 'main.hx'), source);
  const main = join(root, 'dist/bin/main.js');
  writeFileSync(join(folder, 'trellis'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(join(folder, 'trellis'), 0o755);
});
afterAll(() => removeFolder(folder));

async function printed(...argv: string[]): Promise<string[]> {
  const lines: string[] = [];
  const spy = vi.spyOn(console, 'log').mockImplementation((text: string) => void lines.push(text));
  expect(await runCommand(argv)).toBe(0);
  spy.mockRestore();
  return lines.join('\n').split('\n');
}
const offered = (...words: string[]) => printed('__complete', ...words);

test('W06 commands, flags, words, and names of the project', async () => {
  const project = ['--project', folder];
  expect(await offered('que')).toEqual(['query']);
  expect((await offered('')).length).toBeGreaterThan(20);
  expect(await offered('query', '--j')).toEqual(['--json']);
  expect(await offered('init', '--template', '')).toEqual(['start', 'graphrag', 'memory']);
  expect(await offered('keys', '')).toEqual(['add', 'list', 'rotate', 'revoke']);
  expect(await offered('help', 'bac')).toEqual(['backup']);
  expect(await offered('explain', ...project, 'pe')).toEqual(['personOf', 'people']);
  expect(await offered('query', ...project, 'personOf', '')).toEqual(['name=', 'most=']);
  expect(await offered('recall', ...project, '')).toEqual(['Note']);
  expect(await offered('import', ...project, '--node', 'P')).toEqual(['Person']);
  for (const words of [
    ['nothing', ''],
    ['backup', ''],
    ['query', '--project', '/nowhere', 'x'],
  ])
    expect(await offered(...words)).toEqual(['']);
});

const shells: Record<string, string> = {
  bash: `eval "$(trellis completion bash)"
COMP_WORDS=(trellis que); COMP_CWORD=1; _trellis; echo "$COMPREPLY"`,
  zsh: `compdef() { : }; eval "$(trellis completion zsh)"; compadd() { echo $@[-1] }
words=(trellis que); CURRENT=2; _trellis`,
  fish: 'trellis completion fish | source; complete -C "trellis que"',
};

test.each(Object.keys(shells))('W06 in %s', (shell) => {
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const { stdout, error } = spawnSync(shell, ['-c', shells[shell]!], { env, encoding: 'utf8' });
  if (error !== undefined) process.stdout.write(`${shell} is not here: its script was not run\n`);
  else expect(stdout.trim()).toBe('query');
});

test('W06 an unknown shell', async () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  expect(await runCommand(['completion', 'tcsh'])).toBe(78);
  expect(errors.mock.calls[0]![0]).toContain('There are bash, zsh, fish, powershell.');
  errors.mockRestore();
});
