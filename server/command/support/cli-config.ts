// Turns the words and flags of a command line into the configuration of its project.
import { resolve } from 'node:path';
import { excerpt, fail } from '../../../engine/internal.js';
import { type Config, loadConfig, processEnvironment } from '../../config/config.js';
import { checkProjectPaths } from '../../config/project-paths.js';
import { tenantConfig } from '../../config/tenant-config.js';
import type { CommandLine } from '../../terminal/command.js';

const flagKeys: Record<string, string> = {
  host: 'server.host',
  port: 'server.port',
  // API key that a command sends to the server.
  key: 'auth.api_key',
  workers: 'server.workers',
  'exit-when-idle': 'server.exit_when_idle',
};

/** Configuration key and value of each switch. */
const switchKeys: Record<string, [string, string]> = {
  watch: ['server.watch', 'true'],
  'no-watch': ['server.watch', 'false'],
  'insecure-no-auth': ['server.insecure_no_auth', 'true'],
};

/**
 * Returns the configuration for a command line. `word`: the project, if the command takes it as a word.
 * `defaults`: values of the command by configuration key; flags override them.
 */
export function configFromArguments(
  line: CommandLine,
  word?: string,
  defaults: ReadonlyMap<string, string> = new Map(),
): Config {
  const flags = new Map(defaults);
  for (const [name, value] of line.flags) {
    if (Object.hasOwn(flagKeys, name)) flags.set(flagKeys[name]!, value);
    else if (name === 'data') flags.set('storage.data_dir', resolve(value));
  }
  for (const name of line.switches) {
    const setting = switchKeys[name];
    if (setting !== undefined) flags.set(...setting);
  }
  const instance = line.flags.get('instance');
  const config = loadConfig({
    projectDir: projectOf(line, word),
    flags,
    environment: processEnvironment,
    ...(instance === undefined ? {} : { instance }),
  });
  checkProjectPaths(config);
  const tenant = line.flags.get('tenant');
  return tenant === undefined ? config : tenantConfig(config, tenant);
}

/** Returns the project, from the word or --project. Fails CONFIG_INVALID if both are given and differ. */
function projectOf({ flags }: CommandLine, word: string | undefined): string {
  const flag = flags.get('project');
  if (word !== undefined && flag !== undefined && resolve(word) !== resolve(flag)) {
    const what = `There are two projects: ${excerpt(word)} and --project ${excerpt(flag)}.`;
    fail('CONFIG_INVALID', { what }, { hint: 'Name one of them.' });
  }
  return word ?? flag ?? '.';
}
