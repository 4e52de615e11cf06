// `trellis backup`, `restore`, `dump`, `load` and `compact` (operations.md 8). Each opens the data
// directory itself or, for backup and dump, asks the server that has it open.
import { closeSync, createReadStream, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { fsyncSync, writeSync } from 'node:fs';
import { mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  DumpReader,
  type Storage,
  armFailpoint,
  backUp,
  compactGraph,
  dump,
  fail,
  openDataDirectory,
  openStorage,
  restore,
} from '../engine/index.js';
import type { CommandLine } from './arguments.js';
import { backupName, backupPath } from './backup-place.js';
import type { Config } from './config.js';
import { exitCodes } from './exit-code.js';
import { printLine } from './log.js';
import { askServer, isLocked } from './running-server.js';

type ConfigOf = (line: CommandLine) => Config;

function wordOf(line: CommandLine, what: string): string {
  return line.words[0] ?? fail('CONFIG_INVALID', { what: `It needs ${what}.` });
}

/** Opens a directory that holds data, while no server does. */
async function withStorage<T>(
  config: Config,
  work: (storage: Storage) => T | Promise<T>,
): Promise<T> {
  const { dataDir, limits } = config;
  if (!existsSync(join(dataDir, 'MANIFEST.json'))) {
    fail('DATA_DIR_BAD', { what: `${dataDir} holds no data` });
  }
  const directory = openDataDirectory(dataDir);
  try {
    const storage = openStorage(join(dataDir, 'graph'), { limits, mode: 'attach' });
    try {
      return await work(storage);
    } finally {
      storage.close();
    }
  } finally {
    directory.close({ clean: directory.wasClean });
  }
}

export async function backupCommand(line: CommandLine, configOf: ConfigOf): Promise<number> {
  const config = configOf(line);
  const path = backupPath(config, line.words[0] ?? backupName());
  try {
    await withStorage(config, (storage) => backUp(storage.env, config.dataDir, path));
  } catch (error) {
    if (!isLocked(error)) throw error;
    await askServer(config, 'backup', { name: path });
  }
  printLine(`backup ${path}`);
  return exitCodes.ok;
}

export async function restoreCommand(line: CommandLine, configOf: ConfigOf): Promise<number> {
  const config = configOf(line);
  const from = resolve(wordOf(line, 'a backup'));
  armFailpoint(config.failpoint);
  await restore(from, config.dataDir);
  printLine(`restored ${config.dataDir} from ${from}`);
  return exitCodes.ok;
}

export async function dumpCommand(line: CommandLine, configOf: ConfigOf): Promise<number> {
  const config = configOf(line);
  const out = resolve(wordOf(line, 'a file to write'));
  if (existsSync(out)) fail('CONFIG_INVALID', { what: `${out} exists already.` });
  try {
    await withStorage(config, (storage) => writeDump(storage, out));
  } catch (error) {
    if (!isLocked(error)) throw error;
    // A copy of one commit is dumped, so that no reader holds the server's pages.
    const path = backupPath(config, `dump-${backupName()}`);
    await askServer(config, 'backup', { name: path });
    const graph = join(path, 'graph');
    const storage = openStorage(graph, { limits: config.limits, mode: 'attach' });
    writeDump(storage, out);
    storage.close();
    rmSync(path, { recursive: true });
  }
  printLine(`dumped to ${out}`);
  return exitCodes.ok;
}

/** Writes a dump; elements that cannot be read are left out when `onDamage` is given. */
export function writeDump(storage: Storage, out: string, onDamage?: (what: string) => void): void {
  const file = openSync(out, 'wx', 0o600);
  try {
    const options = onDamage && {
      onDamage: (id: number, error: Error) => onDamage(`element ${id}: ${error.message}`),
    };
    for (const block of dump(storage, options)) writeSync(file, block);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const loading = 'RESTORING';

/** Into an empty data directory only: rows of a dump go into another database by `import`. */
export async function loadCommand(line: CommandLine, configOf: ConfigOf): Promise<number> {
  const config = configOf(line);
  const from = resolve(wordOf(line, 'a dump'));
  if (!existsSync(from)) fail('CONFIG_INVALID', { what: `There is no file ${from}.` });
  const { dataDir, limits } = config;
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    const hint = 'Rows of a dump go into other data with `trellis import`.';
    fail('DATA_DIR_BAD', { what: `${dataDir} is not empty` }, { hint });
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const directory = openDataDirectory(dataDir);
  // No server starts over a load that did not finish.
  writeFileSync(join(dataDir, loading), '', { mode: 0o600 });
  let clean = false;
  try {
    const storage = openStorage(join(dataDir, 'graph'), {
      limits,
      mode: 'attach',
      vectorTypes: config.vectorTypes,
    });
    try {
      const reader = new DumpReader(storage, { limits, textEnabled: config.text.enabled });
      for await (const block of createReadStream(from, { highWaterMark: 1 << 20 })) {
        reader.write(block as Uint8Array);
      }
      reader.end();
      printLine(`loaded ${reader.count} elements into ${dataDir}`);
    } finally {
      storage.close();
    }
    rmSync(join(dataDir, loading));
    clean = true;
  } finally {
    directory.close({ clean });
  }
  return exitCodes.ok;
}

export async function compactCommand(line: CommandLine, configOf: ConfigOf): Promise<number> {
  const config = configOf(line);
  const { before, after } = await compactGraph(config.dataDir, config.limits);
  printLine(`compacted ${config.dataDir}: ${before} bytes before, ${after} after`);
  return exitCodes.ok;
}
