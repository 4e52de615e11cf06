// The program `trellis`: hands its arguments to the command line and ends with the code that gives.
// Invariant: what was printed has arrived before it ends, or its code says that it has not.
import { runCommand } from './command/cli.js';
import { printErrorLine } from './telemetry/log.js';
import { printed, watchPrinting } from './telemetry/flush-output.js';
import { exitCodes } from './lifecycle/exit-code.js';

async function main(): Promise<void> {
  watchPrinting();
  const code = await runCommand(process.argv.slice(2));
  const fault = await printed();
  if (fault === undefined) process.exit(code);
  printErrorLine(`What was printed is not whole: ${fault.message}`);
  process.exit(code === exitCodes.ok ? exitCodes.output : code);
}

void main();
