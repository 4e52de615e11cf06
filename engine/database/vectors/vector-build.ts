// Helps to build an index from many vectors. It finds the changes of a commit that can be applied together,
// lists the ids of a type, and reports the progress of a rebuild.
import type { Label, ReadView, VectorChange } from '../../storage/table/view-types.js';
import { joinWords } from '../../storage/table/little-endian.js';

export interface BuildEvents {
  progress: (phase: string, progress: number) => void;
  log: (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void;
}

type Put = Extract<VectorChange, { kind: 'put' }>;

/**
 * Returns the puts of one label and dimension from `at` on, each of a different id, up to the first other
 * change.
 */
export function runOfPuts(changes: readonly VectorChange[], at: number): Put[] {
  const run: Put[] = [];
  const ids = new Set<number>();
  for (; at < changes.length; at++) {
    const change = changes[at]!;
    if (change.kind !== 'put' || ids.has(change.id)) break;
    const [first] = run;
    if (first && change.label !== first.label) break;
    if (first && change.vector.length !== first.vector.length) break;
    ids.add(change.id);
    run.push(change);
  }
  return run;
}

/** Returns the ids of a label, ascending. */
export function idsOf(view: ReadView, label: { id: number }): Uint32Array {
  return joinWords([...view.scan(label.id)]);
}

/**
 * Reports the progress of a rebuild: to /readyz about every thousand vectors, to the log about every tenth of
 * the total.
 */
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
