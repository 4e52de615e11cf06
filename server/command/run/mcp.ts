// `trellis mcp` runs the Model Context Protocol over stdin and stdout, for hosts that start a program. It
// connects to the server that has the data open, and starts one if there is none.
import { resolve } from 'node:path';
import { fail } from '../../../engine/internal.js';
import { shownKey } from '../../auth/environment-key.js';
import { runBridge, serverTimeoutMs } from '../../mcp/stdio/bridge.js';
import { hostConfig, hosts } from '../../mcp/stdio/host-config.js';
import { ServerLink } from '../../mcp/stdio/server-link.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { programFile } from '../../lifecycle/program-file.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, type CommandLine, projectFlags } from '../../terminal/command.js';

export const mcp: Command = {
  name: 'mcp',
  about: 'Run an MCP server over stdin and stdout.',
  words: '[PROJECT_DIR]',
  flags: {
    ...projectFlags,
    url: { value: 'URL', about: 'Server to connect to (default: the server of the project).' },
    key: { value: 'KEY', about: 'API key for the server.' },
    'read-only': { about: 'Offer no tools that write.' },
    'no-start': { about: 'Do not start a server if none is running.' },
    'print-config': {
      value: 'HOST',
      about: `Print the configuration for an agent host: ${Object.keys(hosts).join(', ')}.`,
    },
  },
  run: (line) => (line.flags.has('print-config') ? printHost(line) : attach(line)),
};

const endpointOf = (url: string): string => {
  if (!URL.canParse(url)) fail('CONFIG_INVALID', { what: `--url ${url} is no URL.` });
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname === '/' ? '/mcp' : pathname}`;
};

/** Flags that name the data, as on the command line. */
function dataFlags({ flags }: CommandLine): string[] {
  const data = flags.get('data');
  const instance = flags.get('instance');
  return [
    ...(data === undefined ? [] : ['--data', resolve(data)]),
    ...(instance === undefined ? [] : ['--instance', instance]),
  ];
}

function printHost(line: CommandLine): number {
  const name = line.flags.get('print-config')!;
  if (!Object.hasOwn(hosts, name)) {
    const hint = `Known are ${Object.keys(hosts).join(', ')}.`;
    fail('CONFIG_INVALID', { what: `There is no host ${name}.` }, { hint });
  }
  const { projectDir } = configFromArguments(line, line.words[0]);
  const url = line.flags.get('url');
  const key = line.flags.get('key');
  const switches = ['read-only', 'no-start'].filter((each) => line.switches.has(each));
  const args = ['mcp', projectDir, ...dataFlags(line), ...switches.map((each) => `--${each}`)];
  printLine(
    hostConfig(hosts[name]!, 'trellis', {
      command: process.execPath,
      args: [programFile(), ...args],
      ...(url !== undefined && { url: endpointOf(url) }),
      ...(key !== undefined && { key }),
    }),
  );
  return exitCodes.ok;
}

async function attach(line: CommandLine): Promise<number> {
  const config = configFromArguments(line, line.words[0]);
  const url = line.flags.get('url');
  const link = new ServerLink({
    config,
    mayStart: !line.switches.has('no-start'),
    dataFlags: dataFlags(line),
    report: printErrorLine,
    ...(url !== undefined && { url: endpointOf(url) }),
  });
  // If the server cannot start, the command ends before a client sends a request.
  await link.open(serverTimeoutMs);
  if (link.failedCode !== undefined) return link.failedCode;
  const key = shownKey(config.auth.api_key);
  await runBridge({
    input: process.stdin,
    output: process.stdout,
    link,
    headers: {
      ...(key !== '' && { 'x-api-key': key }),
      ...(line.switches.has('read-only') && { 'X-Trellis-Access': 'read' }),
    },
    limits: config.limits,
    messageBytesMax: config.mcp.body_bytes,
  });
  return exitCodes.ok;
}
