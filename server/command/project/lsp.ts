// `trellis lsp` runs the language server on stdin and stdout, for an editor that starts it.
import { LanguageServer } from '../../lsp/server.js';
import { packageVersion } from '../../lifecycle/program-file.js';
import type { Command } from '../../terminal/command.js';
import { projectFlags } from '../../terminal/command.js';

export const lsp: Command = {
  name: 'lsp',
  about: 'Run a language server over stdin and stdout, for editors.',
  flags: { ...projectFlags, stdio: { about: 'Accepted because many editors pass it. No effect.' } },
  run: () =>
    new Promise((resolve) => {
      const server = new LanguageServer({
        version: packageVersion(),
        write: (frame) => process.stdout.write(frame),
        onExit: (code) => {
          process.stdin.destroy();
          resolve(code);
        },
      });
      process.stdin.on('data', (bytes: Buffer) => server.receive(bytes));
      process.stdin.on('end', () => resolve(1));
    }),
};
