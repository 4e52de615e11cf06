// `trellis tenants add|list|drop` manages the databases of tenants. A running server applies the change
// without a restart; otherwise the command changes the file in the data directory.
import { excerpt, fail } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { isConfiguredTenant } from '../config/tenant-config.js';
import { addToTenantFile, dropFromTenantFile, readTenantFile } from '../config/tenant-file.js';
import type { TenantState } from '../database/tenant/tenant-databases.js';
import { exitCodes } from '../lifecycle/exit-code.js';
import type { TenantList } from '../lifecycle/tenant-actions.js';
import { ignoreInGit } from '../project/git-ignore.js';
import { printErrorLine, printLine } from '../telemetry/log.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../terminal/command.js';
import { usageOf } from '../terminal/parse-flags.js';
import { configFromArguments } from './support/cli-config.js';
import { callServer, findServer } from './support/running-server.js';

const { tenant: _, ...flagsOfProject } = projectFlags;

export const tenants: Command = {
  name: 'tenants',
  about: 'Add, list and drop the databases of tenants.',
  words: 'add NAME | list | drop NAME [PROJECT_DIR]',
  flags: {
    ...flagsOfProject,
    ...keyFlag,
    yes: { about: 'drop: delete the data of the tenant.' },
    json: { about: 'list: print JSON.' },
  },
  run: changeTenants,
};

async function changeTenants(line: CommandLine): Promise<number> {
  const [action, name] = line.words;
  switch (action) {
    case 'list':
      return list(configFromArguments(line, line.words[1]), line.switches.has('json'));
    case 'add':
    case 'drop':
      break;
    default: {
      const what = 'trellis tenants: one of add, list, drop is needed.';
      fail('CONFIG_INVALID', { what }, { hint: `Usage: ${usageOf(tenants)}` });
    }
  }
  if (!name) fail('CONFIG_INVALID', { what: `trellis tenants ${action}: a name is needed.` });
  const config = configFromArguments(line, line.words[2]);
  if (action === 'drop' && !line.switches.has('yes')) {
    const what = `This deletes all data of ${excerpt(name!)}.`;
    fail('CONFIG_INVALID', { what }, { hint: 'Add --yes to drop the tenant.' });
  }
  await (action === 'add' ? add(config, name!) : drop(config, name!));
  return exitCodes.ok;
}

/** Sends the change to the running server and returns its tenants, or undefined if there is no server. */
async function changeOnServer(config: Config, change: object): Promise<TenantState[] | undefined> {
  if (findServer(config) === undefined) return undefined;
  return ((await callServer(config, 'tenants', change)) as TenantList).tenants;
}

async function add(config: Config, name: string): Promise<void> {
  if ((await changeOnServer(config, { add: name })) === undefined) {
    await addToTenantFile(config.dataDir, name, config.databases);
    ignoreInGit(config.dataDir);
  }
  printLine(`Added ${name}. Requests name it in the header \`Trellis-Tenant: ${name}\`.`);
  printErrorLine(
    `Create a key for it with \`trellis keys add NAME --role write --tenant ${name}\`.`,
  );
}

async function drop(config: Config, name: string): Promise<void> {
  if ((await changeOnServer(config, { drop: name })) === undefined)
    await dropFromTenantFile(config.dataDir, name, config.databases);
  printLine(`Dropped ${name} and its data. Its backups and keys are still there.`);
}

async function list(config: Config, isJson: boolean): Promise<number> {
  const all = (await changeOnServer(config, {})) ?? listed(config);
  if (isJson) printLine(JSON.stringify({ tenants: all }));
  else for (const { name, state, source } of all) printLine(`${name}  ${state}  ${source}`);
  return exitCodes.ok;
}

/** Lists the tenants while no server runs. The other databases are shards. */
function listed(config: Config): TenantState[] {
  const added = new Set(readTenantFile(config.dataDir));
  return [...config.databases.keys()].flatMap((name): TenantState[] => {
    if (isConfiguredTenant(config, name))
      return [{ name, state: 'closed', source: 'configuration' }];
    return added.has(name) ? [{ name, state: 'closed', source: 'added' }] : [];
  });
}
