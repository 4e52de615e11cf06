// What building an index from many vectors at once needs beside the index: which changes of a
// commit may go together, the ids of a type, and how far a rebuild has come.
import type { Label, ReadView, VectorChange } from '../../storage/table/view-types.js';
import { joinWords } from '../../storage/table/little-endian.js';

export interface BuildEvents {
  progress: (phase: string, progress: number) => void;
  log: (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void;
}

type Put = Extract<VectorChange, { kind: 'put' }>;

/** The puts of one label from `at` on, each of another id, up to the first change that is none. */
export function runOfPuts(changes: readonly VectorChange[], at: number): Put[] {
  const run: Put[] = [];
  const ids = new Set<number>();
  for (; at < changes.length; at++) {
    const change = changes[at]!;
    if (change.kind !== 'put' || ids.has(change.id)) break;
    if (run.length > 0 && change.label !== run[0]!.label) break;
    ids.add(change.id);
    run.push(change);
  }
  return run;
}

/** Ids of a label, ascending. */
export function idsOf(view: ReadView, label: { id: number }): Uint32Array {
  return joinWords([...view.scan(label.id)]);
}

/** Tells of a rebuild: /readyz about every thousand vectors, the log about every tenth. */
export function progressLog(
  { progress, log }: BuildEvents,
  label: Label,
  total: number,
): (done: number) => void {
  const tenth = Math.max(1000, Math.ceil(total / 10));
  const started = performance.now();
  return (done) => {
    if (done % 1000 === 0) progress(`indexing ${label.name}`, (done / total) * 100);
    if (done === 0 || (done % tenth !== 0 && done !== total - 1)) return;
    const perSecond = Math.round((done * 1000) / (performance.now() - started));
    log('info', 'indexing vectors', { type: label.name, done, total, per_second: perSecond });
  };
}
