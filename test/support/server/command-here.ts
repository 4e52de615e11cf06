// A command of `trellis` in this process: what it wrote, and its exit code.
import { vi } from 'vitest';
import { runCommand } from '../../../server/command/cli.js';

export async function commandHere(argv: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(`${line}\n`)),
    vi.spyOn(console, 'error').mockImplementation((line: string) => void err.push(`${line}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0),
  ];
  const code = await runCommand(argv);
  for (const spy of spies) spy.mockRestore();
  return { code, stdout: out.join(''), stderr: err.join('') };
}
