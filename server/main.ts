#!/usr/bin/env node
// The program `trellis`: hands its arguments to the command line and ends with the code that gives.
import { runCommand } from './command/cli.js';

process.exit(await runCommand(process.argv.slice(2)));
