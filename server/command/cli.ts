// The table of all commands of `trellis`, and the function that runs one and returns its exit code. Each
// command is in its own file.
import { excerpt, fail, nearestName } from '../../engine/internal.js';
import { exitCodes, reportFailure } from '../lifecycle/exit-code.js';
import type { Command } from '../terminal/command.js';
import { helpOf, parseCommandLine } from '../terminal/parse-flags.js';
import { printLine } from '../telemetry/log.js';
import { backup } from './data/backup.js';
import { check } from './project/check.js';
import { compact } from './data/compact.js';
import { cluster } from './run/cluster.js';
import { config } from './project/config.js';
import { dev } from './run/dev.js';
import { dump } from './data/dump.js';
import { explainQuery } from './project/explain.js';
import { fmt } from './project/fmt.js';
import { completion, printCompletions } from './completion.js';
import { helpCommand } from './help.js';
import { importFiles } from './data/import.js';
import { init } from './run/init.js';
import { mcp } from './run/mcp.js';
import { keys } from './keys.js';
import { load } from './data/load.js';
import { lsp } from './project/lsp.js';
import { openapi } from './project/openapi.js';
import { query } from './project/query.js';
import { recall } from './data/recall.js';
import { reembed } from './data/reembed.js';
import { repl } from './project/repl.js';
import { restoreBackup } from './data/restore.js';
import { serveProject } from './run/serve.js';
import { tenants } from './tenants.js';
import { types } from './project/types.js';
import { verify } from './data/verify.js';
import { version } from './version.js';

/** All commands, in the order of help. */
export const commands: Command[] = [
  ...[
    init,
    dev,
    serveProject,
    mcp,
    cluster,
    check,
    fmt,
    lsp,
    query,
    repl,
    explainQuery,
    types,
    openapi,
    config,
  ],
  ...[
    keys,
    tenants,
    importFiles,
    recall,
    reembed,
    verify,
    backup,
    restoreBackup,
    dump,
    load,
    compact,
  ],
];
commands.push(completion, helpCommand(commands), version);

const aliases: Record<string, string> = {
  '--help': 'help',
  '-h': 'help',
  '--version': 'version',
  '-v': 'version',
};

function commandOf(wanted: string): Command {
  const name = Object.hasOwn(aliases, wanted) ? aliases[wanted]! : wanted;
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return command;
  if (name.startsWith('-')) {
    const what = `A command must come before ${excerpt(name)}.`;
    const hint = 'Usage: trellis COMMAND [WORDS] [FLAGS], for example `trellis serve --port 6969`.';
    return fail('CONFIG_INVALID', { what }, { hint });
  }
  const names = commands.map((each) => each.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? 'Run `trellis help`.' : `Did you mean \`trellis ${near}\`?`;
  return fail('CONFIG_INVALID', { what: `There is no command ${excerpt(name)}.` }, { hint });
}

/** Runs a command line without the name of the program. Returns the exit code. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  try {
    if (argv[0] === '__complete') return printCompletions(argv.slice(1), commands);
    const command = commandOf(argv[0] ?? 'help');
    const line = parseCommandLine(argv.slice(1), command);
    if (!line.switches.has('help')) return await command.run(line);
    printLine(helpOf(command));
    return exitCodes.ok;
  } catch (error) {
    return reportFailure(error);
  }
}
