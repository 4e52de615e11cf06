// Builds the status of an open database from its parts.
import type { BackgroundCheck } from './maintenance/background-check.js';
import type { DiskMonitor } from './maintenance/disk-monitor.js';
import type { DatabaseStatus } from './database.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { WriterClient } from './lane/writer-client.js';
import type { WriterMetrics } from './metrics/writer-metrics.js';

interface StatusParts {
  phase: DatabaseStatus['phase'];
  progress: number;
  disk: DiskMonitor;
  backgroundCheck: BackgroundCheck;
  writer: WriterClient;
  dispatcher: Dispatcher;
  writerMetrics: WriterMetrics;
}

/** Returns true if the data are no longer usable. */
export const isLost = (disk: DiskMonitor, backgroundCheck: BackgroundCheck): boolean =>
  disk.lost !== undefined || Boolean(backgroundCheck.damage);

export function statusOf(parts: StatusParts): DatabaseStatus {
  const { disk, backgroundCheck, writer, dispatcher, writerMetrics, progress } = parts;
  const phase = isLost(disk, backgroundCheck) ? 'lost' : parts.phase;
  const readOnlyReason = disk.lost ?? writer.readOnlyReason ?? disk.shortage;
  const writes = readOnlyReason === undefined && phase === 'serving';
  const { heartbeatAge } = writerMetrics;
  return { phase, progress, writes, readOnlyReason, heartbeatAge, readers: !dispatcher.isShort };
}
