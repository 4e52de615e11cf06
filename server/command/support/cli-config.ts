// Which project and data a command line means, and with which settings: the words and flags that all
// commands about a project share, as one configuration.
import { resolve } from 'node:path';
import { excerpt, fail } from '../../../engine/index.js';
import { type Config, loadConfig, processEnvironment } from '../../config/config.js';
import { checkProjectPlaces } from '../../config/project-paths.js';
import { tenantConfig } from '../../config/tenant-config.js';
import type { CommandLine } from '../../terminal/command.js';

const flagKeys: Record<string, string> = {
  host: 'server.host',
  port: 'server.port',
  // The key a command shows to a server is the one that the project would ask for.
  key: 'auth.api_key',
  workers: 'server.workers',
  'exit-when-idle': 'server.exit_when_idle',
};

/** Words for the two values of a key. */
const switchKeys: Record<string, [string, string]> = {
  watch: ['server.watch', 'true'],
  'no-watch': ['server.watch', 'false'],
  'insecure-no-auth': ['server.insecure_no_auth', 'true'],
};

/**
 * The configuration for a command line. `word`: the project where the command takes it as a word.
 * `standard`: values the command begins with, by configuration key.
 */
export function configFromArguments(
  line: CommandLine,
  word?: string,
  standard: ReadonlyMap<string, string> = new Map(),
): Config {
  const flags = new Map(standard);
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
  checkProjectPlaces(config);
  const tenant = line.flags.get('tenant');
  return tenant === undefined ? config : tenantConfig(config, tenant);
}

/** As a word or by --project: the same, or one of them. */
function projectOf({ flags }: CommandLine, word: string | undefined): string {
  const flag = flags.get('project');
  if (word !== undefined && flag !== undefined && resolve(word) !== resolve(flag)) {
    const what = `There are two projects: ${excerpt(word)} and --project ${excerpt(flag)}.`;
    fail('CONFIG_INVALID', { what }, { hint: 'Name one of them.' });
  }
  return word ?? flag ?? '.';
}
