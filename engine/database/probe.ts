// Reads the data once after an unclean stop, before or beside their use.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { probeData } from '../storage/probe.js';
import type { DatabaseOptions } from './database.js';

/** Up to this size the data file is read before it is opened, above it beside serving. */
const probedFirstBytes = 2 ** 30;

/**
 * After an unclean stop a child process reads every value once, before this process maps the file:
 * damaged pages end a process by signal.
 */
export async function probe({ dataDir, log }: DatabaseOptions): Promise<void> {
  const path = join(dataDir, 'graph');
  const reading = probeData(path).then(({ damaged }) => {
    for (const what of damaged) log('error', 'a stored value fails its checksum', { what });
  });
  if (statSync(join(path, 'data.mdb')).size <= probedFirstBytes) return reading;
  // Reading a large file takes longer than anyone would wait for a start.
  reading.catch((error: Error) =>
    log('error', 'the data file is damaged', { what: error.message }),
  );
}
