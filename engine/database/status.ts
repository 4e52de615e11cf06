// How an open database is, from what its parts say.
import type { ProbeWatch } from './care/probe.js';
import type { DiskWatch } from './care/watch.js';
import type { DatabaseStatus } from './database.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { WriterLink } from './lane/writer-link.js';
import type { Figures } from './meter/figures.js';

interface StatusParts {
  phase: DatabaseStatus['phase'];
  progress: number;
  disk: DiskWatch;
  probe: ProbeWatch;
  writer: WriterLink;
  dispatcher: Dispatcher;
  figures: Figures;
}

/** Nothing of them can be used any more. */
export const isLost = (disk: DiskWatch, probe: ProbeWatch): boolean =>
  disk.lost !== undefined || Boolean(probe.damage);

export function statusOf(parts: StatusParts): DatabaseStatus {
  const { disk, probe, writer, dispatcher, figures, progress } = parts;
  const phase = isLost(disk, probe) ? 'lost' : parts.phase;
  const readOnlyReason = disk.lost ?? writer.readOnlyReason ?? disk.shortage;
  const writes = readOnlyReason === undefined && phase === 'serving';
  const { heartbeatAge } = figures;
  return { phase, progress, writes, readOnlyReason, heartbeatAge, readers: !dispatcher.isShort };
}
