// Counts the requests that involved another node, or that waited for a log entry.
import type { ServerSample } from '../telemetry/metric-definitions.js';

/** Consistency mode of a read that had to wait. */
export type WaitMode = 'session' | 'strong' | 'max-lag';
type WaitResult = 'done' | 'behind' | 'failed';
type ForwardResult = 'done' | 'refused' | 'unreached' | 'unknown';

export class ClusterCounts {
  readonly #waits = new Map<string, { mode: string; result: WaitResult; count: number }>();
  readonly #forwarded = new Map<ForwardResult, number>();

  /** Counts a read of this mode that waited, by the result of the wait. */
  waited(mode: WaitMode, result: WaitResult): void {
    const key = `${mode} ${result}`;
    const known = this.#waits.get(key) ?? { mode, result, count: 0 };
    known.count++;
    this.#waits.set(key, known);
  }

  forwarded(result: ForwardResult): void {
    this.#forwarded.set(result, (this.#forwarded.get(result) ?? 0) + 1);
  }

  samples(): ServerSample[] {
    return [
      ...[...this.#waits.values()].map(({ mode, result, count }): ServerSample => {
        return { name: 'cluster_read_waits_total', labels: { mode, result }, value: count };
      }),
      ...[...this.#forwarded].map(([result, value]): ServerSample => {
        return { name: 'cluster_forwarded_total', labels: { result }, value };
      }),
    ];
  }
}
