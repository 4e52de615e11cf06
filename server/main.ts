// Entry of the program `trellis`: runs the command line and exits with its code.
//
// Invariant: all output is flushed before the exit, or the exit code reports that it was not.
import { runCommand } from './command/cli.js';
import { printErrorLine } from './telemetry/log.js';
import { printed, watchPrinting } from './telemetry/flush-output.js';
import { exitCodes } from './lifecycle/exit-code.js';

async function main(): Promise<void> {
  watchPrinting();
  const code = await runCommand(process.argv.slice(2));
  const error = await printed();
  if (error === undefined) process.exit(code);
  printErrorLine(`What was printed is not whole: ${error.message}`);
  process.exit(code === exitCodes.ok ? exitCodes.output : code);
}

void main();
