// Watches trellis.toml and prints which values a restart would change. The server reads the file only at its
// start.
import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { TrellisError, errorMessage } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { printConfig } from '../config/secrets.js';

const pollIntervalMs = 300;

/**
 * Starts watching. `reread` returns the configuration of the changed file. Returns a function that stops
 * watching.
 */
export function watchConfig(
  config: Config,
  reread: () => Config,
  print: (line: string) => void,
): () => void {
  const path = join(config.projectDir, 'trellis.toml');
  const inForce = new Set(linesOf(config));
  const check = (now: Stats, before: Stats): void => {
    // Node also reports once that the file does not exist.
    if (now.mtimeMs === 0 && before.mtimeMs === 0) return;
    try {
      const changed = linesOf(reread()).filter((line) => !inForce.has(line));
      if (changed.length === 0) print('trellis.toml: no value has changed');
      for (const line of changed) print(`trellis.toml: ${line}: takes effect after a restart`);
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      print(`trellis.toml: ${errorMessage(error.data)} The server would not start again.`);
    }
  };
  watchFile(path, { interval: pollIntervalMs, persistent: false }, check);
  return () => unwatchFile(path, check);
}

/** Returns keys with values. Secrets are hidden, and the source of a value is left out. */
const linesOf = (config: Config): string[] =>
  printConfig(config)
    .split('\n')
    .map((line) => line.replace(/ {2}# .*$/, ''));
