// Builds the status of an open database from its parts.
import type { DiskMonitor } from './maintenance/disk-monitor.js';
import type { DatabaseStatus } from './database.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { Lifecycle } from './lifecycle.js';
import type { WriterClient } from './lane/writer-client.js';
import type { WriterMetrics } from './metrics/writer-metrics.js';

interface StatusParts {
  lifecycle: Lifecycle;
  disk: DiskMonitor;
  writer: WriterClient;
  dispatcher: Dispatcher;
  writerMetrics: WriterMetrics;
}

export function statusOf(parts: StatusParts): DatabaseStatus {
  const { lifecycle, disk, writer, dispatcher, writerMetrics } = parts;
  const { phase, progress } = lifecycle;
  const readOnlyReason = lifecycle.lostReason ?? writer.readOnlyReason ?? disk.shortage;
  const writes = readOnlyReason === undefined && phase === 'serving';
  const { heartbeatAge } = writerMetrics;
  return { phase, progress, writes, readOnlyReason, heartbeatAge, readers: !dispatcher.isShort };
}
