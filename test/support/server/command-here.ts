// Runs a command of `trellis` in this process. Returns its output and its exit code. A separate process costs
// five times as much; use one for tests that end the process, read its output, or kill it.
import { vi } from 'vitest';
import { runCommand } from '../../../server/command/cli.js';

/** One command at a time: the folder of the process and what it prints are everybody's. */
export async function commandHere(argv: readonly string[], cwd = process.cwd()) {
  const [out, err]: [string[], string[]] = [[], []];
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(`${line}\n`)),
    vi.spyOn(console, 'error').mockImplementation((line: string) => void err.push(`${line}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0),
  ];
  const home = process.cwd();
  process.chdir(cwd);
  const code = await runCommand(argv);
  process.chdir(home);
  for (const spy of spies) spy.mockRestore();
  return { code, stdout: out.join(''), stderr: err.join('') };
}
