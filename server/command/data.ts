// `trellis backup`, `restore`, `dump`, `load` and `compact` (operations.md 8). Each opens the data
// directory itself or, for backup and dump, asks the server that has it open.
import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  rmSync,
  fsyncSync,
  writeSync,
  readdirSync,
} from 'node:fs';
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
  probeData,
  refuseBroken,
  restore,
} from '../../engine/index.js';
import type { CommandLine } from './arguments.js';
import { backupName, backupPath } from '../process/backup-place.js';
import type { Config } from '../config/config.js';
import { exitCodes } from '../process/exit-code.js';
import { printLine } from '../observe/log.js';
import { askServer, isLocked } from '../process/running-server.js';

type ConfigOf = (line: CommandLine) => Config;

function wordOf(line: CommandLine, what: string): string {
  return line.words[0] ?? fail('CONFIG_INVALID', { what: `It needs ${what}.` });
}

/** Reads a directory that holds data and whose pages are sound, while no server has it. */
async function withStorage<T>(
  config: Config,
  work: (storage: Storage) => T | Promise<T>,
): Promise<T> {
  const { dataDir, limits } = config;
  if (!existsSync(join(dataDir, 'MANIFEST.json'))) {
    fail('DATA_DIR_BAD', { what: `${dataDir} holds no data` });
  }
  const directory = openDataDirectory(dataDir, { readOnly: true });
  try {
    refuseBroken(await probeData(join(dataDir, 'graph'), directory));
    const storage = openStorage(join(dataDir, 'graph'), { limits, mode: 'attach' });
    try {
      return await work(storage);
    } finally {
      storage.close();
    }
  } finally {
    directory.close({ clean: false });
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

function writeDump(storage: Storage, out: string): void {
  const file = openSync(out, 'wx', 0o600);
  let isWhole = false;
  try {
    for (const block of dump(storage)) {
      for (let at = 0; at < block.length; ) at += writeSync(file, block, at);
    }
    fsyncSync(file);
    isWhole = true;
  } finally {
    closeSync(file);
    // What is there only in part is not taken for a dump.
    if (!isWhole) rmSync(out);
  }
}

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
  const directory = openDataDirectory(dataDir, { unfinished: true });
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
