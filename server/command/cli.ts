// The commands of `trellis` (operations.md 1): what each takes, what it does, and with which code
// it ends.
import { resolve } from 'node:path';
import { fail, nearestName, openDatabase } from '../../engine/index.js';
import { type CommandLine, type FlagTable, parseArguments } from './arguments.js';
import { checkCommand } from './check.js';
import { type Config, loadConfig, printConfig, processEnvironment } from '../config/config.js';
import { backupCommand, compactCommand, dumpCommand, loadCommand, restoreCommand } from './data.js';
import { exitCodes, reportFailure } from '../process/exit-code.js';
import { explainCommand } from './explain.js';
import { importCommand } from './import.js';
import { keysCommand } from './keys.js';
import { printLine } from '../observe/log.js';
import { serve } from '../process/serve.js';
import { packageVersion } from '../process/program-file.js';
import { recallCommand } from './recall.js';
import { verifyCommand } from './verify.js';

interface Command {
  flags: FlagTable;
  usage: string;
  run: (line: CommandLine) => number | Promise<number>;
}

const noFlags: FlagTable = { values: [], switches: [] };

const serveFlags: FlagTable = {
  values: ['data', 'host', 'port', 'workers', 'instance'],
  switches: ['watch', 'no-watch', 'insecure-no-auth', 'allow-preload'],
};
const serveUsage =
  '[PROJECT_DIR] [--data DIR] [--host H] [--port N] [--workers N] [--instance NAME] ' +
  '[--watch|--no-watch] [--insecure-no-auth]';

function runServer(line: CommandLine, standard: ReadonlyMap<string, string>): Promise<number> {
  return serve({
    config: configOf(line, line.words[0], standard),
    environment: processEnvironment,
    allowPreload: line.switches.has('allow-preload'),
    openDatabase,
  });
}

/** `dev` is `serve` for the one who edits the sources: it watches them, and speaks plain text. */
const development = new Map([
  ['server.watch', 'true'],
  ['log.format', 'text'],
]);

/**
 * A command about the data of a project: which one, `--project` and `--data` say. `asks`: where a
 * server has the data open it is asked, with `--key` where it wants one.
 */
function dataCommand(
  usage: string,
  run: (line: CommandLine, config: (line: CommandLine) => Config) => Promise<number>,
  { asks = false } = {},
): Command {
  return {
    flags: { values: ['data', 'project', 'instance', ...(asks ? ['key'] : [])], switches: [] },
    usage: `${usage} [--project DIR] [--data DIR]${asks ? ' [--key KEY]' : ''}`,
    run: (line) => run(line, (given) => configOf(given, given.flags.get('project'))),
  };
}

const commands = new Map<string, Command>([
  [
    'serve',
    { flags: serveFlags, usage: `serve ${serveUsage}`, run: (line) => runServer(line, new Map()) },
  ],
  [
    'dev',
    { flags: serveFlags, usage: `dev ${serveUsage}`, run: (line) => runServer(line, development) },
  ],
  [
    'check',
    {
      flags: { values: ['data', 'instance'], switches: ['json'] },
      usage: 'check [PROJECT_DIR] [--json] [--data DIR]',
      run: (line) => checkCommand(() => configOf(line, line.words[0]), line.switches.has('json')),
    },
  ],
  [
    'explain',
    {
      flags: { values: ['data', 'instance'], switches: ['json'] },
      usage: 'explain [PROJECT_DIR] QUERY [--json] [--data DIR]',
      run: (line) => {
        const [first, second] = line.words;
        if (first === undefined) failUsage('explain');
        const [project, query] = second === undefined ? ['.', first!] : [first, second];
        return explainCommand(configOf(line, project), query, line.switches.has('json'));
      },
    },
  ],
  [
    'config',
    {
      flags: { values: ['data', 'host', 'port', 'workers', 'instance'], switches: [] },
      usage: 'config print [PROJECT_DIR]',
      run: (line) => {
        if (line.words[0] !== 'print') failUsage('config');
        printLine(printConfig(configOf(line, line.words[1])));
        return exitCodes.ok;
      },
    },
  ],
  [
    'keys',
    {
      flags: { values: ['data', 'instance', 'role', 'queries', 'expires'], switches: [] },
      usage:
        'keys add NAME --role read|write|admin|metrics [--queries a,b*] [--expires DATE] ' +
        '| list | revoke ID  [PROJECT_DIR] [--data DIR]',
      run: (line) => keysCommand(line, (project) => configOf(line, project)),
    },
  ],
  [
    'verify',
    {
      flags: { values: ['salvage'], switches: ['deep', 'json', 'here', 'live', 'repair-derived'] },
      usage: 'verify [DIR] [--deep] [--repair-derived] [--salvage FILE] [--json]',
      run: (line) => verifyCommand(line, () => configOf(line)),
    },
  ],
  [
    'recall',
    {
      flags: { values: ['data', 'instance', 'samples', 'k', 'project', 'key'], switches: [] },
      usage: 'recall [TYPE] [--samples N] [--k N] [--project DIR] [--data DIR] [--key KEY]',
      run: (line) => recallCommand(line, configOf(line, line.flags.get('project')), openDatabase),
    },
  ],
  [
    'import',
    {
      flags: {
        values: [
          'data',
          'instance',
          'url',
          'key',
          'node',
          'edge',
          'vector',
          'rejects',
          'date-format',
        ],
        switches: [],
      },
      usage:
        'import [PROJECT_DIR] FILE... [--data DIR | --url URL [--key KEY]] ' +
        '[--node T | --edge T | --vector T] [--rejects FILE] [--date-format FORMAT]',
      run: (line) => importCommand(line, (project) => configOf(line, project)),
    },
  ],
  ['backup', dataCommand('backup [NAME]', backupCommand, { asks: true })],
  ['restore', dataCommand('restore BACKUP', restoreCommand)],
  ['dump', dataCommand('dump FILE', dumpCommand, { asks: true })],
  ['load', dataCommand('load FILE', loadCommand)],
  ['compact', dataCommand('compact', compactCommand)],
  ['help', { flags: noFlags, usage: 'help', run: () => printUsage() }],
  [
    'version',
    {
      flags: noFlags,
      usage: 'version',
      run: () => {
        printLine(packageVersion());
        return exitCodes.ok;
      },
    },
  ],
]);

const flagKeys: Record<string, string> = {
  host: 'server.host',
  port: 'server.port',
  // The key a command shows to a server is the one that the project would ask for.
  key: 'auth.api_key',
  workers: 'server.workers',
};

function configOf(
  line: CommandLine,
  projectDir = '.',
  standard: ReadonlyMap<string, string> = new Map(),
): Config {
  const flags = new Map(standard);
  for (const [name, value] of line.flags) {
    if (Object.hasOwn(flagKeys, name)) flags.set(flagKeys[name]!, value);
    else if (name === 'data') flags.set('storage.data_dir', resolve(value));
  }
  if (line.switches.has('watch')) flags.set('server.watch', 'true');
  if (line.switches.has('no-watch')) flags.set('server.watch', 'false');
  if (line.switches.has('insecure-no-auth')) flags.set('server.insecure_no_auth', 'true');
  const instance = line.flags.get('instance');
  return loadConfig({
    projectDir,
    flags,
    environment: processEnvironment,
    ...(instance === undefined ? {} : { instance }),
  });
}

function printUsage(): number {
  const lines = [...commands.values()].map(({ usage }) => `  trellis ${usage}`);
  printLine(
    `TrellisDB ${packageVersion()}: a graph and vector database server\n\n${lines.join('\n')}`,
  );
  return exitCodes.ok;
}

function failUsage(name: string): never {
  const what = `trellis ${name}: the arguments are not understood.`;
  return fail('CONFIG_INVALID', { what }, { hint: `Usage: trellis ${commands.get(name)!.usage}` });
}

const aliases: Record<string, string> = { '--help': 'help', '-h': 'help', '--version': 'version' };

/** Runs a command line without the program's name; gives the exit code. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  try {
    const given = argv[0] ?? 'help';
    const name = Object.hasOwn(aliases, given) ? aliases[given]! : given;
    const command = commands.get(name);
    if (command === undefined) {
      const near = nearestName(name, commands.keys());
      const hint = near === undefined ? 'Run `trellis help`.' : `Did you mean \`trellis ${near}\`?`;
      return fail('CONFIG_INVALID', { what: `There is no command ${name}.` }, { hint });
    }
    return await command.run(parseArguments(argv.slice(1), command.flags));
  } catch (error) {
    return reportFailure(error);
  }
}
