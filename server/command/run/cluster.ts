// `trellis cluster` creates a cluster from the data of a project, and manages the running node.
//
// Invariant: only `init` creates a log. `recreate-log` replaces a lost log, and needs --yes. The former names
// `rebase` and `forget` are still accepted.
import { existsSync } from 'node:fs';
import {
  type ClusterNode,
  fail,
  followedTo,
  foundCluster,
  printPosition,
} from '../../../engine/internal.js';
import { readKeyFile } from '../../auth/key-file.js';
import { clusterOptions } from '../../config/cluster-options.js';
import type { ClusterStatus } from '../../cluster/cluster-status.js';
import type { Config } from '../../config/config.js';
import { databaseOptions } from '../../config/database-options.js';
import { createLog, printErrorLine, printLine } from '../../telemetry/log.js';
import type { CheckResult } from '../../cluster/membership/consistency-check.js';
import { removeLeftFile } from '../../cluster/membership/membership.js';
import { type Settings, packSettings } from '../../cluster/membership/settings.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { callServer } from '../support/running-server.js';
import { configFromArguments } from '../support/cli-config.js';
import {
  archiveOf,
  countErrors,
  loadProgram,
  codeFrameOf,
  programOptions,
} from '../../project/program.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../../terminal/command.js';
import { usageOf } from '../../terminal/parse-flags.js';
import { counted } from '../../terminal/format.js';

export const cluster: Command = {
  name: 'cluster',
  about: 'Create or manage a cluster.',
  words: 'init | recreate-log | status | step-down | check | leave | release-backup [PROJECT_DIR]',
  flags: {
    ...projectFlags,
    ...keyFlag,
    to: {
      value: 'NODE',
      about: 'step-down: the next leader (default: the first node that takes over).',
    },
    node: { value: 'NODE', about: 'leave: the node that leaves (default: this node).' },
    backup: {
      value: 'NODE/NAME',
      about: 'release-backup: the backup that no longer needs the log.',
    },
    yes: { about: 'recreate-log: accept the loss of entries that only the lost log had.' },
    json: { about: 'status, check: print JSON.' },
  },
  run: async (line) => {
    const [word] = line.words;
    const config = configFromArguments(line, line.words[1]);
    switch (word) {
      case 'init':
        return found(config, false);
      case 'recreate-log':
      case 'rebase':
        await confirm(config, line);
        return found(config, true);
      case 'status':
        return printStatus(config, line);
      case 'step-down': {
        const to = line.flags.get('to');
        const query = to === undefined ? '' : `?${new URLSearchParams({ to })}`;
        const result = (await callServer(config, `cluster-step-down${query}`, {})) as {
          position: string;
        };
        printLine(`handed over at ${result.position}`);
        return exitCodes.ok;
      }
      case 'check':
        return check(config, line);
      case 'leave':
        return leave(config, line.flags.get('node') ?? clusterOptions(config)?.node ?? '');
      case 'release-backup':
      case 'forget': {
        const backup = line.flags.get('backup') ?? '';
        await callServer(config, `cluster-forget?${new URLSearchParams({ backup })}`, {});
        printLine(`the log is no longer kept for the backup ${backup}`);
        return exitCodes.ok;
      }
      default: {
        const what =
          'trellis cluster: one of init, recreate-log, status, step-down, check, leave, release-backup is needed.';
        return fail('CONFIG_INVALID', { what }, { hint: `Usage: ${usageOf(cluster)}` });
      }
    }
  },
};

/** Prints what each node found. Returns exit code 2 if a node differs or does not answer. */
async function check(config: Config, { switches }: CommandLine): Promise<number> {
  const result = (await callServer(config, 'cluster-check', {})) as CheckResult;
  const { equal, nodes, position } = result;
  if (switches.has('json')) printLine(JSON.stringify(result));
  else {
    const [same, differing, silent] = (['equal', 'differs', 'silent'] as const).map((result) =>
      nodes.filter((node) => node.result === result),
    );
    const ends = [
      ...differing!.map(({ node, tables }) => `${node} differs (${tables})`),
      ...silent!.map(({ node }) => `${node} silent`),
    ];
    printLine([`${same!.length} of ${nodes.length} equal at ${position}`, ...ends].join(', '));
    if (equal) printLine('all known nodes hold the same data');
  }
  return equal ? exitCodes.ok : exitCodes.differs;
}

async function leave(config: Config, node: string): Promise<number> {
  await callServer(config, `cluster-leave?${new URLSearchParams({ node })}`, {});
  printLine(`${node} has left: the log is no longer kept for it, and it cannot write`);
  printLine('stop it; to rejoin, empty its data directory and start it');
  return exitCodes.ok;
}

/** Prints what would be lost. Fails CONFIG_INVALID without --yes. */
async function confirm({ dataDir }: Config, { switches }: CommandLine): Promise<void> {
  const position = await followedTo(dataDir);
  const has =
    position === undefined
      ? 'The data of this node have not followed a log.'
      : `The data of this node have all entries up to ${printPosition(position)}.`;
  const lost = 'Later entries that only the lost log or other nodes have are lost.';
  if (switches.has('yes')) return printLine(`${has} ${lost}`);
  const what = `recreate-log makes a new log of the data of this node. ${has} ${lost}`;
  const hint =
    'Compare `trellis cluster status` of all nodes, stop them, and run this with --yes on the node that is furthest.';
  fail('CONFIG_INVALID', { what }, { hint });
}

async function found(config: Config, again: boolean): Promise<number> {
  const logAddress = clusterOptions(config);
  if (logAddress === undefined) {
    const hint = 'Such as `log = "nats://a:4222,b:4222,c:4222"` under [cluster].';
    fail('CONFIG_INVALID', { what: '`cluster.log` is not set.' }, { hint });
  }
  const compiled = loadProgram(programOptions(config));
  const { program, diagnostics } = compiled;
  for (const one of diagnostics) printErrorLine(codeFrameOf(one, compiled, process.stderr));
  if (program === undefined) {
    const errors = counted(countErrors(diagnostics), 'error');
    return fail('SOURCE_INVALID', { what: `The sources have ${errors}.` });
  }
  const log = createLog({ level: 'warn', format: 'text' });
  const options = { ...databaseOptions(config, program, log), cluster: logAddress! };
  const archive = archiveOf(compiled, programOptions(config));
  const allowLazy = config.cluster.allow_unsynced_log;
  const onWait = (what: string): void => {
    const address = logAddress!.log.replace(/\/\/[^/@]*@/, '//');
    printErrorLine(`waiting up to 30 s for the log at ${address} (${what})`);
  };
  const settings = settingsOf(config, again);
  await foundCluster(options, archive, { allowLazy, again, settings, onWait });
  removeLeftFile(config.dataDir);
  printLine(
    'created the log; start `trellis serve` here to lead; nodes without data copy them from the leader',
  );
  return exitCodes.ok;
}

/** Returns the settings of a new cluster with the API keys of this node; undefined for a recreated log. */
function settingsOf({ keysFile, tenant }: Config, again: boolean): Uint8Array | undefined {
  if (again || tenant !== '' || !existsSync(keysFile)) return undefined;
  return packSettings({ keys: { keys: readKeyFile(keysFile), revoked: [] } });
}

type StatusReply = ClusterStatus & {
  name: string;
  log: Awaited<ReturnType<ClusterNode['look']>> | null;
} & Pick<Settings, 'left' | 'marks'>;

async function printStatus(config: Config, { switches }: CommandLine): Promise<number> {
  const status = (await callServer(config, 'cluster-status', {})) as StatusReply;
  if (switches.has('json')) printLine(JSON.stringify(status));
  else {
    const {
      node,
      role,
      position,
      lag_ms,
      leader,
      log,
      fault: error,
      left = [],
      marks = [],
    } = status;
    printLine(`${node} is ${role} of ${status.name} at ${position}, ${lag_ms} ms behind`);
    printLine(
      leader === null ? 'there is no leader' : `${leader.node} leads, at ${leader.address}`,
    );
    if (log !== null) printLine(`the log holds ${log.first} to ${log.last}, ${log.bytes} bytes`);
    for (const { node: name, seq } of log?.claims ?? [])
      printLine(`${name} has all entries up to ${seq}`);
    for (const { backup, seq } of marks)
      printLine(`the log is kept from ${seq} for the backup ${backup}`);
    printLine(
      status.signed_by === null
        ? 'entries of the log are not signed'
        : `entries of the log are signed by the key ${status.signed_by}`,
    );
    if (left.length > 0) printLine(`nodes that left: ${left.join(', ')}`);
    if (error !== undefined) printLine(`${error.code}: ${error.error}`);
  }
  return status.fault === undefined ? exitCodes.ok : exitCodes.diagnostics;
}
